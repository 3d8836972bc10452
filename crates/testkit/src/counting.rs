//! Counts the packets with data that a party sends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Context as TaskContext;

use madrigal_core::Party;
use madrigal_net::frame::FrameKind;
use madrigal_net::transport::{Closing, Inbox, Packet, Transport};

/// A transport that counts what is sent over it.
#[derive(Debug)]
pub struct Counting<T> {
    inner: T,
    packets: Arc<AtomicU64>,
}

impl<T> Counting<T> {
    /// Around another one; the number of packets that had data in them, whenever one looks.
    pub fn new(inner: T) -> (Self, Arc<AtomicU64>) {
        let packets = Arc::<AtomicU64>::default();
        let counting = Self {
            inner,
            packets: packets.clone(),
        };
        (counting, packets)
    }
}

impl<T: Transport> Transport for Counting<T> {
    fn attach(&self, inbox: Inbox) {
        self.inner.attach(inbox);
    }

    fn meeting(&self, with: Party) -> Option<String> {
        self.inner.meeting(with)
    }

    fn send(&self, to: Party, packet: Packet) {
        let is_data = |frame: &madrigal_net::frame::Frame| frame.header.kind == FrameKind::Data;
        if packet.frames.iter().any(is_data) {
            self.packets.fetch_add(1, Ordering::Relaxed);
        }
        self.inner.send(to, packet);
    }

    fn close(&self) {
        self.inner.close();
    }

    fn closing(&self, task: &mut TaskContext<'_>) -> Closing {
        self.inner.closing(task)
    }
}
