"""Pages that stand where a text should: an error that says 200, a wall, a parked domain. Which kind, by named rules.

A kind has *headings* (what a title, a first line or a first sentence says as a whole) and *phrases* (what stands in such
pages). A page is of a kind where it has one of its headings (and one of its phrases, where such a heading could be a story's); or
where sentences with two different phrases hold a seventh of its words, or with one half of them; of a paywall also where
two stand in its last three lines. What stands in quotation marks does not count:
an article may quote such a page. Length alone says nothing.
*Reads* and *writes* nothing.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

_TITLE = re.compile(r"<title[^>]*>(.{0,2000}?)</title", re.I | re.S)
_PARTS = re.compile(r"\s+[|–—·»«-]\s+")
_SENTENCE = re.compile(r"(?<=[.!?。！？…])\s+|\n+")
_QUOTED = re.compile('“[^”\n]{1,400}”|„[^“\n]{1,400}“|«[^»\n]{1,400}»|"[^"\n]{1,400}"|「[^」\n]{1,400}」')
_WORD = re.compile(r"\w+")
_TRIM = " \t.!:…¡?。！*-"


class _Kind(NamedTuple):
    headings: re.Pattern[str]
    phrases: tuple[re.Pattern[str], ...]


def _make_kind(headings: str, *phrases: str) -> _Kind:
    return _Kind(re.compile(headings, re.I), tuple(re.compile(phrase, re.I) for phrase in phrases))


KINDS: dict[str, _Kind] = {
    "a page that was not found": _make_kind(
        r"(?:(?:http )?(?:error )?(?:404|410)(?: error)?(?:[ :–-]+(?:page |file )?(?:not found|gone))?"
        r"|(?:oops[,!. ]*)?(?:the )?(?:requested )?(?:page|file|article|url|content|resource) (?:was"
        r" )?(?:not found|could not be found|cannot be found|does not exist|no longer exists|is no longer"
        r" available)(?: on this server)?"
        r"|we (?:can.?t|couldn.?t|could not) find (?:the|that) page(?: you.{1,30})?"
        r"|(?:diese )?seite (?:wurde )?nicht gefunden|page (?:introuvable|non trouvée)|p[áa]gina no encon"
        r"trada|p[áa]gina não encontrada"
        r"|pagina non trovata|pagina niet gevonden|strona nie została znaleziona|nie znaleziono strony|sa"
        r"yfa bulunamadı"
        r"|страница не найдена|ページが見つかりません(?:でした)?|(?:您访问的)?页面(?:不存在|未找到)|sidan hittades inte"
        r"|siden blev ikke fundet)",
        r"(?:page|article|content|file|url)[^.\n]{0,50}(?:could not be found|cannot be found|was not found"
        r"|not found|does ?n.t exist|no longer (?:exists|available))",
        r"(?:may|might|could) have been (?:moved|renamed|removed|deleted)",
        r"(?:address|url|link)[^.\n]{0,40}(?:typed|mistyped|misspelled|entered|incorrect|broken|outdated)",
        r"(?:go|return|back|head) (?:back )?to (?:the|our) (?:home ?page|front page|start page)",
        r"(?:use|try) (?:the|our) search|search (?:box|bar|our site)",
        r"seite[^.\n]{0,60}nicht (?:gefunden|mehr verfügbar)|zurück zur startseite|überprüfen sie die (?:url"
        r"|adresse)",
        r"page[^.\n]{0,60}(?:introuvable|n.existe (?:pas|plus))|retour(?:ner)? à (?:la page d.)?accueil",
        r"p[áa]gina[^.\n]{0,60}no (?:existe|se ha encontrado|está disponible)|volver (?:a la página de )?inicio",
    ),
    "a page that asks for JavaScript": _make_kind(
        r"(?:please )?(?:enable|turn on|activate) (?:javascript|scripts?)(?: (?:and cookies )?(?:to (?:co"
        r"ntinue|run this app|view this (?:page|site)|proceed)))?"
        r"|javascript (?:is )?(?:required|disabled|not available)|bitte javascript aktivieren"
        r"|veuillez activer javascript",
        r"(?:enable|activate|requires?|needs?|turn on|switch on|without|allow) (?:javascript|scripts|js\b)"
        r"|javascript (?:must be|is|to be|has been) (?:enabled|disabled|turned off|required|not enabled"
        r"|blocked)",
        r"turn javascript on|(?:reload|refresh) (?:the|this) page",
        r"browsers? (?:block|do(?:es)? not support|is not supported|has javascript)|unsupported browser"
        r"|allow scripts",
        r"aktivieren sie (?:bitte )?javascript|javascript (?:ist )?(?:de)?aktiviert|activer? javascript"
        r"|habilit[ae]r? javascript|abilita(?:re)? javascript",
    ),
    "a paywall": _make_kind(
        r"(?:subscribe|sign in|log in|register) to (?:continue reading|read (?:more|the full (?:story|article)"
        r"|this article|on))|(?:this (?:article|content|story) is )?(?:for )?subscribers? only"
        r"|weiterlesen mit abo|réservé aux abonnés",
        r"(?:subscribe|sign (?:in|up)|log ?in|register|pay)[^.\n]{0,30} to (?:continue|keep|finish) reading"
        r"|to (?:continue|keep) reading[^.\n]{0,40}(?:subscribe|log ?in|sign (?:in|up)|register)",
        r"already (?:a |have a |an? )?(?:subscriber|subscription|member)\b",
        r"(?:article|content|story|page)[^.\n]{0,20}(?:for|to|available (?:only )?to|reserved for"
        r"|exclusive to)[^.\n]{0,12} (?:subscribers|members)(?: only)?",
        r"(?:free|complimentary) articles?[^.\n]{0,30}(?:used up|left|remaining|this month|limit)"
        r"|limit of (?:free|complimentary) articles",
        r"choose (?:a|your) (?:plan|subscription)|(?:unlimited|full) (?:digital )?access[^.\n]{0,40}(?:month"
        r"|week|subscri|trial)|cancel any ?time",
        r"(?:jetzt|mit) (?:abo|abonnement|plus)[^.\n]{0,30}(?:weiterlesen|lesen)|bereits abonnent|nur für abonnenten",
        r"réservée?s? (?:aux|à nos) abonnés|déjà abonné|abonnez-vous|il vous reste \d+ ?% de cet article",
        r"(?:solo|exclusivo) para suscriptores|ya (?:eres|es usted) suscriptor"
        r"|suscr[íi]b[ae]te para (?:continuar|seguir)|riservato agli abbonati|sei già abbonato",
    ),
    "a wall against robots": _make_kind(
        r"access (?:to this page has been )?denied|(?:error )?403(?:[ :–-]+forbidden)?|forbidden|just a moment"
        r"|attention required|one more step|security check(?: required)?|are you (?:a )?(?:human|robot)"
        r"|pardon our interruption|checking your browser.{0,40}|verify(?:ing)? (?:that )?you are (?:a )?human"
        r"|robot check|request blocked|zugriff verweigert|accès refusé|acceso denegado|accesso negato"
        r"|доступ запрещ[её]н",
        r"(?:don.?t|do not) have permission to access|access (?:to (?:this|the) (?:page|site|server|website"
        r"|resource))?[^.\n]{0,12}(?:denied|blocked|forbidden)|you have been blocked",
        r"(?:complete|pass|solve)[^.\n]{0,20} (?:security check|challenge|captcha)|captcha",
        r"checking (?:if the site connection|your browser)|connection is secure",
        r"(?:prove|proves|verify|confirm|make sure)[^.\n]{0,20} (?:that )?you (?:are|.re) (?:a )?(?:human"
        r"|not a (?:ro)?bot)",
        r"(?:ray|reference|incident|request|event) (?:id|number|#)|unusual (?:traffic|activity)"
        r"|automated (?:requests|access|queries|traffic)|cloudflare|perimeterx|akamai|ddos",
        r"keine berechtigung|zugriff (?:wurde )?(?:verweigert|gesperrt)|vous n.avez pas (?:la permission"
        r"|l.autorisation)|no tiene(?:s)? permiso",
    ),
    "a parked domain": _make_kind(
        r"(?:this |the )?domain(?: name)?(?: \S+)? (?:is|may be|might be|has been) (?:for sale|parked"
        r"|available|expired)|(?:buy|get) this domain|domain (?:parked|for sale|expired)"
        r"|diese domain steht zum verkauf|ce (?:nom de )?domaine est à vendre",
        r"domain(?: name)?[^.\n]{0,40}(?:for sale|parked|expired|available for purchase|to be renewed)"
        r"|buy (?:this|the) domain|inquire about this domain|make an offer",
        r"related (?:searches|links)\s*:?|popular (?:searches|categories)",
        r"sponsored (?:listings|links)|listings displayed|neither the service provider nor the domain owner"
        r"|relationship with (?:them|the advertisers)",
        r"domain[^.\n]{0,30}(?:steht zum verkauf|zu verkaufen|geparkt)|domaine[^.\n]{0,20}(?:à vendre"
        r"|en vente)|dominio[^.\n]{0,20}(?:en venta|in vendita)",
    ),
    "a wall of consent": _make_kind(
        r"(?:we (?:value|care about|respect) your privacy|before you continue|cookie (?:settings|preferences"
        r"|consent|notice)|your privacy choices|privacy settings|wir (?:schätzen"
        r"|respektieren) ihre privatsphäre|ihre privatsphäre ist uns wichtig|nous respectons votre vie privée"
        r"|(?:nos )?(?:importa|valoramos) (?:su|tu) privacidad|rispettiamo la tua privacy|wij (?:waarderen"
        r"|respecteren) (?:je|uw) privacy|cenimy (?:twoją|państwa) prywatność)",
        r"we (?:value|care about|respect) your privacy|your privacy (?:is important|matters)",
        r"we and our (?:\d+ )?partners|our partners.? process|(?:\d+ )?(?:vendors"
        r"|partners)[^.\n]{0,40}process(?:ing)? (?:personal )?data",
        r"stor(?:e|ing) and/?(?:or )?access(?:ing)? information on a device|precise geolocation"
        r"|device scanning|unique identifiers|personali[sz]ed ads",
        r"(?:click|choose|press)[^.\n]{0,20}(?:to )?(?:consent|accept|agree)|(?:accept|reject|allow"
        r"|manage)(?: all)? (?:cookies|preferences|choices)|refuse to consent|change your preferences",
        r"(?:we|this (?:site|website)) uses? cookies|(?:by (?:continuing|clicking))[^.\n]{0,60}(?:cookies"
        r"|consent|agree)",
        r"(?:wir|diese (?:web)?seite) (?:verwende[nt]|nutz(?:en|t)|setz(?:en|t)) cookies"
        r"|alle (?:cookies )?(?:akzeptieren|annehmen|ablehnen)|(?:ihre|der) einwilligung|cookies? zustimmen"
        r"|unsere (?:\d+ )?partner",
        r"(?:nous|ce site)[^.\n]{0,20} utilis(?:ons|e)[^.\n]{0,12}cookies|(?:tout )?accepter(?: et fermer"
        r"| les cookies)?|continuer sans accepter|nos (?:\d+ )?partenaires|votre consentement",
        r"(?:utilizamos|usamos|utiliza) (?:las |os )?cookies|(?:aceptar|rechazar|aceitar|rejeitar) (?:todas"
        r"|tod[ao]s|las cookies|os cookies)|nuestros (?:\d+ )?socios|nossos parceiros|(?:su|tu|seu) consent",
        r"(?:utilizziamo|usiamo|utilizza) (?:i )?cookie|(?:accetta|rifiuta) (?:tutti|tutto|i cookie)"
        r"|i nostri (?:\d+ )?partner|il tuo consenso",
        r"(?:wij|we|deze (?:web)?site) (?:gebruik(?:en|t)|plaats(?:en|t)) cookies"
        r"|(?:alle )?cookies (?:accepteren|weigeren|toestaan)|onze (?:\d+ )?partners|toestemming",
        r"używ(?:amy|a) (?:plików )?cookies?|zaakceptuj|nasi partnerzy|vi (?:använder|bruger|bruker) cookies"
        r"|godkänn alla|çerez(?:ler)?i? (?:kullan|kabul)|(?:используем|использует) (?:файлы )?cookie"
        r"|принять все",
    ),
    "an account that was closed": _make_kind(
        r"(?:this )?(?:account|site|website|page|blog|domain)(?: has been| is"
        r"| was)?(?: temporarily)? (?:suspended|deactivated|disabled|terminated)|account suspended"
        r"|bandwidth limit exceeded",
        r"(?:account|site|website|blog|domain)[^.\n]{0,30}(?:suspended|deactivated|disabled|terminated)",
        r"contact (?:your|the) (?:hosting|host|web ?host|billing|webmaster|service|support)[^.\n]{0,30}"
        r"|resolve (?:this|the) (?:issue|problem)|violat(?:es|ed|ion)[^.\n]{0,30}terms",
    ),
    "a page to log in": _make_kind(
        r"(?:log|sign) ?in(?: (?:to (?:continue|your account|view this page)|required))?|login|member login"
        r"|please (?:log|sign) in|anmelden|connexion|iniciar sesión|accedi",
        r"(?:forgot|lost|reset)(?:ten)? (?:your |my )?(?:password|username)|passwort vergessen"
        r"|mot de passe oublié|olvidaste tu contraseña|password dimenticata",
        r"(?:don.?t have|no|need|create|register)[^.\n]{0,12} an? (?:new )?account|remember me"
        r"|keep me (?:logged|signed) in|stay signed in",
        r"(?:enter|type) your (?:e-?mail|user ?name|password)|(?:must|need to|have to|please) (?:be logged|log"
        r"|sign) ?in|user ?name (?:and|or|,)[^.\n]{0,10} ?password",
    ),
    "a page of search results": _make_kind(
        r"search results?(?: (?:for|of) .{1,80})?|results for .{1,80}"
        r"|no (?:search )?results(?: (?:were )?found)?(?: for .{1,80})?|suchergebnisse.{0,80}"
        r"|résultats de (?:la )?recherche.{0,80}|resultados de (?:la )?búsqueda.{0,80}"
        r"|risultati della ricerca.{0,80}",
        r"(?:your search|search results|results) (?:for|matched|returned|did not match|found)[^.\n]{0,60}",
        r"(?:showing|displaying|results|page)?\s*\d+\s*(?:-|–|to)\s*\d+ of (?:about )?[\d,.]+(?: results)?"
        r"|about [\d,.]+ results|[\d,.]+ results (?:found|in)",
        r"(?:sort|refine|filter)(?: your)? (?:results|by|search)|did you mean|try (?:different|other|fewer"
        r"|more general) (?:keywords|terms|words)",
    ),
    "a notice of a server": _make_kind(
        r"(?:internal server error|(?:error )?50[0234](?:[ :–-].{1,30})?|bad gateway"
        r"|service (?:temporarily )?unavailable|error establishing a database connection|index of /.{0,80}"
        r"|welcome to nginx|it works|apache2? .{0,20}default page|under construction|coming soon|(?:site "
        r"|we are |down for )?(?:under )?maintenance(?: mode)?|website is under construction)",
        r"(?:internal server error|database connection|bad gateway|temporarily unavailable"
        r"|web server[^.\n]{0,30}(?:installed|working|running)|default (?:web )?page)",
        r"(?:under construction|scheduled maintenance|down for maintenance|(?:check|come) back (?:soon|later"
        r"|shortly)|try again (?:later|in a few))",
    ),
}
"""The kinds of pages that are no texts, by what they are called to people."""
_CUT = "a paywall"
_PLAIN = ("a page that was not found", "a page that asks for JavaScript", "a parked domain")
"""Kinds whose headings are nobody's story."""


def find(page: str, prose: str) -> str | None:
    """The kind that a page is of, in words; None where it may be a text. ``page``: its HTML; ``prose``: what it holds."""
    own = _QUOTED.sub(" ", prose)
    sentences = [one.strip() for one in _SENTENCE.split(own) if one.strip() != ""]
    lines = [line.strip() for line in own.splitlines() if line.strip() != ""]
    heads = _list_heads(page, lines)
    words = sum(map(_count_sentence, sentences)) or 1
    for name, kind in KINDS.items():
        there = [phrase for phrase in kind.phrases if phrase.search(own)]
        different = len(there)
        if any(kind.headings.fullmatch(head) for head in heads) and (name in _PLAIN or _is_beside(kind, sentences)):
            return name
        held = (
            sum(_count_sentence(one) for one in sentences if any(phrase.search(one) for phrase in there))
            if there
            else 0
        )
        if (different >= 2 and held * 7 >= words) or (different == 1 and held * 2 >= words):
            return name
        if name == _CUT and sum(any(p.search(line) for line in lines[-3:]) for p in there) >= 2:
            return name
    return None


def _is_beside(kind: _Kind, sentences: list[str]) -> bool:
    """Whether a phrase of the kind stands beside its heading."""
    others = [one for one in sentences if kind.headings.fullmatch(one.strip(_TRIM)) is None]
    return any(phrase.search(one) for one in others for phrase in kind.phrases)


def _count_sentence(sentence: str) -> int:
    """Words; where a language writes none apart, half the characters."""
    beyond = sum(character > "\u2e80" for character in sentence)
    return len(_WORD.findall(sentence)) + beyond // 2


def _list_heads(page: str, lines: list[str]) -> list[str]:
    """What stands as a heading: the parts of the title, the first two lines, the first sentence of each."""
    title = _TITLE.search(page)
    found = _PARTS.split(html.unescape(" ".join(title[1].split()))) if title is not None else []
    for line in lines[:2]:
        found += [line, _SENTENCE.split(line)[0]]
    return [one.strip(_TRIM) for one in found if one.strip(_TRIM) != ""]
