"""Tables in files, published data sets, and models of whole tables."""
