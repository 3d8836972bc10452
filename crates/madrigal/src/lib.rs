//! Secure multi-party computation without a middleman: the public API.
