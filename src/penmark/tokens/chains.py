def _signer(signed: _Signed, certificates: list[x509.Certificate]) -> x509.Certificate:
    """The certificate that the token names as its signer's; for timestamps and nothing else (RFC 3161, 2.3)."""
    issuer, serial = _nodes(signed.issuer_and_serial)
    number = int.from_bytes(serial.content, "big", signed=True)
    named = [c for c in certificates if c.serial_number == number and c.issuer.public_bytes() == issuer.whole]
    _expect(len(named) == 1, "carries its signer's certificate")
    usage = named[0].extensions.get_extension_for_class(x509.ExtendedKeyUsage)
    if not usage.critical or list(usage.value) != [ExtendedKeyUsageOID.TIME_STAMPING]:
        raise _UnsoundError(f"{name(named[0].subject)} is not a certificate for timestamps")
    return named[0]


def _chain(signer: x509.Certificate, certificates: list[x509.Certificate], trust: Trust) -> list[x509.Certificate]:
    """From the signer upwards as far as the certificates at hand go, a trusted root first where one fits.

    Raises where a certificate of the token is not signed by the one in the token that it names.
    """
    for child in certificates:
        named = [c for c in certificates if c.subject == child.issuer]
        if named and not any(_issued(child, c) for c in named):
            raise _UnsoundError(f"damaged: {name(child.subject)} is not signed by {name(child.issuer)}")
    chain = [signer]
    while not _self_signed(chain[-1]) and len(chain) < MAX_CHAIN:
        at_hand = (c for c in (*trust.roots, *certificates, *trust.between) if c not in chain)
        parent = next((c for c in at_hand if _issued(chain[-1], c)), None)
        if parent is None:
            break
        chain.append(parent)
    return chain


def _named_in_token(signed: _Signed, chain: list[x509.Certificate], trust: Trust) -> None:
    """The signed digest of the signer's certificate is that of the one in the token (RFC 5035).

    Where the token lists more certificates than the signer's, all of the chain below a trusted root are among them.
    """
    attributes = _attributes(signed)
    if _SIGNING_CERTIFICATE_V2 in attributes:
        listed = list(_listed(attributes[_SIGNING_CERTIFICATE_V2], hashes.SHA256()))
    elif _SIGNING_CERTIFICATE in attributes:
        listed = list(_listed(attributes[_SIGNING_CERTIFICATE], hashes.SHA1()))  # noqa: S303 (RFC 2634 has no other)
    else:
        raise _UnsoundError("the token does not name its signer's certificate")
    bound = chain[:1] if len(listed) == 1 else [c for c in chain if c not in trust.roots and c not in trust.between]
    for position, certificate in enumerate(bound):
        allowed = listed[:1] if position == 0 else listed
        if not any(certificate.fingerprint(algorithm) == digest for algorithm, digest in allowed):
            raise _UnsoundError(f"damaged: {name(certificate.subject)} is not the certificate that was signed for")


def _anchored(response: TimeStampResponse, data: bytes, trust: Trust) -> None:
    """OpenSSL's judgement of the whole chain up to a trusted root, at the token's time."""
    builder = VerifierBuilder(roots=list(trust.roots), intermediates=list(trust.between))
    try:
        builder.build().verify_message(response, data)
    except _FOREIGN as error:
        raise _UnsoundError(f"its certificates do not hold: {error}") from None


def _valid_then(chain: list[x509.Certificate], when: datetime) -> None:
    """Without a trusted root: each certificate at hand was valid at the token's time, each issuer may issue."""
    for position, certificate in enumerate(chain):
        shown = name(certificate.subject)
        if not certificate.not_valid_before_utc <= when <= certificate.not_valid_after_utc:
            raise _UnsoundError(f"the certificate {shown} was not valid at the token's time, {rfc3339(when)}")
        if position:
            constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
            if not constraints.value.ca:
                raise _UnsoundError(f"{shown} may not issue certificates, and issued one of the token's")


def _issued(child: x509.Certificate, parent: x509.Certificate) -> bool:
    try:
        child.verify_directly_issued_by(parent)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def _self_signed(certificate: x509.Certificate) -> bool:
    return _issued(certificate, certificate)


def _which(certificate: x509.Certificate) -> str:
    what = f"{name(certificate.subject)} (certificate SHA-256 {certificate.fingerprint(hashes.SHA256()).hex()})"
    return what if _self_signed(certificate) else f"{what}, issued by {name(certificate.issuer)}"


def _certificates(pem: bytes, place: str) -> list[x509.Certificate]:
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        return []
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError as error:
        raise PenmarkError(
            f"not a file of certificates: {error}", place=place, remedy="Give root certificates in PEM form."
        ) from None


def _plain(text: str) -> str:
    """Printable, on one line, of bounded length: these words come from strangers."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split())[:300]
