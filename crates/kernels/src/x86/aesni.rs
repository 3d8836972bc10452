pub(crate) use crate::portable::*;
