//! How programs are cut: which operations form a region, and how long its blocks are.

use std::collections::HashMap;

use madrigal_core::time::{Link, Rates};

use crate::graph::{Graph, Node};
use crate::price::{Limits, Price};

/// Bytes that a block of a region should take: a core's second-level cache, about. Fewer elements
/// would stay in it more surely, and pay more for the messages; measured, this is the best.
const BLOCK_BYTES: usize = 1 << 20;
/// Elements of the longest piece of a row that kernels take at once; blocks have whole ones.
const PIECE_LANES: usize = 2048;
/// Elements of a cache line of bits.
const LINE_LANES: usize = 512;
/// The most elements of a block: messages beyond this gain nothing.
const MAX_BLOCK_LANES: usize = 1 << 16;
/// Blocks of a region that are under way on a thread at least: one computes while the other's messages
/// travel.
const BLOCKS_UNDER_WAY: usize = 2;
/// The most blocks of a region that are under way on one thread. On several, whose blocks are shorter where each thread has its
/// part of the memory, there may be twice as many.
const MAX_UNDER_WAY: usize = 64;

/// Blocks of one region.
#[derive(Debug, Clone)]
pub(crate) struct Region {
    pub(crate) len: usize,
    pub(crate) lanes: usize,
    pub(crate) under_way: usize,
    /// Working memory of a block.
    pub(crate) bytes_at_work: usize,
    /// Tasks in each block.
    pub(crate) nodes: Vec<u32>,
}

/// Number of blocks; one, if there are no elements.
pub(crate) fn blocks(len: usize, lanes: usize) -> usize {
    len.div_ceil(lanes.max(1)).max(1)
}

/// The regions, and which one each operation is in; inputs are in none.
pub(crate) fn regions(graph: &Graph, limits: &Limits) -> (Vec<Region>, Vec<Option<u32>>) {
    let nodes = graph.nodes();
    // The most operations on whole vectors that are on the way to each node.
    let mut level = vec![0_usize; nodes.len()];
    let mut of: Vec<Option<u32>> = vec![None; nodes.len()];
    // Regions that turned out to be one: the smaller number stands for both.
    let mut same: Vec<u32> = Vec::new();
    let find = |same: &[u32], mut region: u32| {
        while same[region as usize] != region {
            region = same[region as usize];
        }
        region
    };
    for (index, node) in nodes.iter().enumerate() {
        if node.operation.is_none() {
            continue;
        }
        let before = node.inputs.iter().map(|value| value.node as usize);
        let lane_wise = node.is_lane_wise();
        let beyond = |&producer: &usize| {
            let whole = nodes[producer].operation.is_some() && !nodes[producer].is_lane_wise();
            level[producer] + usize::from(whole || !lane_wise)
        };
        level[index] = before.clone().map(|node| beyond(&node)).max().unwrap_or(0);
        let mut region = same.len() as u32;
        same.push(region);
        if lane_wise {
            for producer in before {
                let joins = nodes[producer].is_lane_wise() && level[producer] == level[index];
                if let (true, Some(theirs)) = (joins, of[producer]) {
                    let (a, b) = (find(&same, theirs), find(&same, region));
                    same[a.max(b) as usize] = a.min(b);
                    region = a.min(b);
                }
            }
        }
        of[index] = Some(region);
    }
    let mut numbers = HashMap::new();
    let mut regions: Vec<Region> = Vec::new();
    for (index, region) in of.iter_mut().enumerate() {
        let Some(region) = region else {
            continue;
        };
        let root = find(&same, *region);
        let number = *numbers.entry(root).or_insert_with(|| {
            regions.push(Region {
                len: 0,
                lanes: 0,
                under_way: 1,
                bytes_at_work: 0,
                nodes: Vec::new(),
            });
            regions.len() as u32 - 1
        });
        *region = number;
        regions[number as usize].nodes.push(index as u32);
    }
    for region in &mut regions {
        cut(graph, region, limits);
    }
    (regions, of)
}

/// Decides on the blocks of a region.
fn cut(graph: &Graph, region: &mut Region, limits: &Limits) {
    let first = graph.node(region.nodes[0]);
    region.len = first.outputs.iter().map(|sort| sort.len).max().unwrap_or(0);
    if !first.is_lane_wise() {
        region.lanes = region.len.max(1);
        return;
    }
    let at_work = |&node: &u32| {
        let sorts = graph.input_sorts(node, LINE_LANES);
        let operation = graph.node(node).operation.as_ref();
        operation.map_or(0, |operation| operation.bits_at_work(&sorts))
    };
    let widest = region.nodes.iter().map(at_work).max().unwrap_or(0).max(1);
    let fitting = (BLOCK_BYTES * 8 / widest).clamp(LINE_LANES, MAX_BLOCK_LANES);
    let unit = if fitting < PIECE_LANES {
        LINE_LANES
    } else {
        PIECE_LANES
    };
    let mut lanes = fitting / unit * unit;
    if limits.threads > 1 {
        // As many blocks as are under way at least, where there are elements enough; one more would be alone in the end.
        let even = region.len.div_ceil(BLOCKS_UNDER_WAY * limits.threads);
        lanes = lanes.min(even.next_multiple_of(LINE_LANES).max(LINE_LANES));
    }
    // The correlations of a block are made at once.
    let needs = |lanes: usize| {
        let of = |&node: &u32| Price::new(graph, node, lanes, limits).needs.share_bytes();
        region.nodes.iter().map(of).sum::<u128>()
    };
    let each = needs(LINE_LANES).div_ceil(LINE_LANES as u128).max(1);
    let affordable = (limits.block_needs as u128 / each) as usize;
    while lanes > 64 && lanes > affordable {
        lanes = (lanes / 2).next_multiple_of(64);
    }
    region.lanes = lanes;
    region.bytes_at_work = widest * lanes.min(region.len).next_multiple_of(64) / 8;
    region.under_way = under_way(graph, region, limits, widest);
}

/// Blocks that hide the latency of each other's messages: while one block's messages travel, the
/// others compute and send.
fn under_way(graph: &Graph, region: &Region, limits: &Limits, widest: usize) -> usize {
    let least = BLOCKS_UNDER_WAY * limits.threads;
    let count = blocks(region.len, region.lanes);
    let lanes = region.lanes.min(region.len);
    let busy = Limits {
        line: Link {
            latency: -Rates::ZEN_5.hop,
            ..limits.line
        },
        ..*limits
    };
    let time = |limits: &Limits| {
        let of = |&node: &u32| Price::new(graph, node, lanes, limits).nanoseconds;
        region.nodes.iter().map(of).sum::<u64>()
    };
    let (whole, busy) = (time(limits), time(&busy).max(1));
    let hiding = whole.div_ceil(busy) as usize;
    let affordable = limits.block_memory / (widest * lanes / 8).max(1);
    hiding
        .min(affordable)
        .min(MAX_UNDER_WAY * limits.threads.min(2))
        .max(least)
        .min(count)
}

/// Elements of a block of each node's values.
pub(crate) fn lanes_of(graph: &Graph, regions: &[Region], of: &[Option<u32>]) -> Vec<usize> {
    let lanes = |(node, region): (&Node, &Option<u32>)| match region {
        Some(region) if node.is_lane_wise() => regions[*region as usize].lanes,
        // Whatever the length of its results: each is one piece.
        _ => usize::MAX,
    };
    graph.nodes().iter().zip(of).map(lanes).collect()
}
