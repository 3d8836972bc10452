//! Oblivious transfer: base OTs, OT extension and its flavours.
