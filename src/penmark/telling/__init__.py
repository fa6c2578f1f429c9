"""What a bundle says of itself: the words and catalogues around its numbers, made once, and made again to check them.

*Never* imports what asks, signs or loads plugins: whoever verifies a bundle comes here too.
"""
