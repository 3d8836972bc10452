//! A process of the benchmark: one party over a socket, or all of them over memory.

use madrigal_app::everyone::everyone;
use madrigal_app::failure::{Failure, Result};
use madrigal_app::figures::forget_peak_rss;
use madrigal_app::flags::{Patience, TransportArg};
use madrigal_app::processes::{self, Clock, Figures, Listening, Ready, Starter, Used};
use madrigal_app::reach::Network;
use madrigal_core::Party;
use madrigal_net::Session;
use madrigal_program::lower::Mix;
use madrigal_program::{Ended, Everyone, Planned};
use madrigal_sql::plan;
use madrigal_sql::tpch::{data, query, read_by, table};
use madrigal_tables::{Data, Frame, Query, Table};
use serde::{Deserialize, Serialize};

use super::super::failure::Unfit;

/// Number of parties.
pub const PARTIES: usize = 3;
/// Number of the job in its session.
const JOB: u32 = 1;

/// A query to compute, and as whom.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Task {
    pub query: usize,
    pub scale: f64,
    /// Numbers of rows of all tables, by their names.
    pub counts: Vec<(String, usize)>,
    /// Threads of each party.
    pub threads: usize,
    pub transport: TransportArg,
    /// The party that the process is; `None` where it is all of them, over memory.
    pub me: Option<usize>,
}

/// What a process tells once its parties have finished.
#[derive(Debug, Serialize, Deserialize)]
pub struct Done {
    pub parties: Vec<Figures>,
    pub used: Used,
    /// The result, of the first party's process.
    pub answer: Option<Told>,
}

/// A result as texts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Option<String>>>,
}

/// Computes what the starter says.
pub fn run() -> Result<()> {
    processes::take_part(compute)
}

fn compute(task: Task, starter: Starter) -> Result<Done> {
    let here: Vec<Party> = match task.me {
        Some(me) => vec![Party::checked(me, PARTIES).map_err(Failure::bug)?],
        None => Party::all(PARTIES).collect(),
    };
    let prepared = Prepared::new(&task, &here)?;
    let prepared = &prepared;
    // What made the rows is no party's.
    forget_peak_rss();
    let (ended, used) = match here[..] {
        [me] => {
            let party = Listening::new(task.transport)?;
            let meeting = starter.begin(party.ready())?;
            let work = async |session: &Session| {
                let clock = Clock::start();
                let ended = prepared.work(session).await?;
                Ok((ended, clock.stop()))
            };
            let (ended, used) = party.meet(me, &meeting, task.threads, work)?;
            (vec![ended], used)
        }
        _ => {
            starter.begin(Ready::default())?;
            let clock = Clock::start();
            let ended = everyone(
                TransportArg::Memory,
                Network::new(None),
                PARTIES,
                task.threads,
                &Patience::default(),
                async |session: &Session| prepared.work(session).await,
            )?;
            (ended, clock.stop())
        }
    };
    let is_first = here.first().is_some_and(|party| party.index() == 0);
    let answer = match (is_first, ended.first()) {
        (true, Some(first)) => Some(prepared.told(first)?),
        _ => None,
    };
    Ok(Done {
        parties: ended
            .iter()
            .map(|one| Figures::from(&one.outcome))
            .collect(),
        used,
        answer,
    })
}

/// A query that is planned, with the tables of the parties that are here.
struct Prepared {
    query: Query,
    planned: Planned,
    data: Vec<(Table, Data)>,
}

impl Prepared {
    fn new(task: &Task, here: &[Party]) -> Result<Self> {
        let Task { scale, .. } = *task;
        let text = query(task.query, scale);
        let text = text.ok_or_else(|| Failure::bug("a query that there is not"))?;
        let (mut frames, mut own) = (Vec::new(), Vec::new());
        for (name, columns) in read_by(&text) {
            let rows = task.counts.iter().find(|(table, _)| table == name);
            let rows = rows.map_or(0, |(_, rows)| *rows);
            let table = table(name, scale, &columns, rows, PARTIES);
            let frame = Frame::table(table.clone()).map_err(Failure::bug)?;
            frames.push((name.to_owned(), frame));
            if here
                .iter()
                .any(|party| table.owner().party() == Some(*party))
            {
                own.push(table);
            }
        }
        let frame = plan(&text, &frames).map_err(Unfit::from)?;
        let query = Query::new(&frame, PARTIES, Everyone).map_err(Unfit::from)?;
        let threads = task.threads;
        let planned = query
            .computation()
            .plan(Mix::R, None, &|spec| spec.threads = threads);
        let values = |table: Table| {
            let data = data(&table, scale).map_err(Failure::bug)?;
            Ok((table, data))
        };
        Ok(Self {
            planned: planned.map_err(Failure::bug)?,
            query,
            data: own.into_iter().map(values).collect::<Result<_>>()?,
        })
    }

    async fn work(&self, session: &Session) -> Result<Ended> {
        let program = self.query.computation();
        let data = self.data.iter().map(|(table, data)| (table.name(), data));
        let inputs = self.query.inputs(data);
        let given = self.planned.given(program, &inputs, session.me());
        let given = given.map_err(Failure::bug)?;
        drop(inputs);
        Ok(self.planned.run(session, JOB, given, None, &|_| {}).await?)
    }

    fn told(&self, ended: &Ended) -> Result<Told> {
        let answer = self.query.result(&ended.outputs);
        let answer = answer.ok_or_else(|| Failure::bug("a party without the result"))?;
        let cell = |row: usize, column: usize| match answer.rows[row][column] {
            madrigal_tables::Value::Null => None,
            _ => Some(answer.text(row, column)),
        };
        let columns = 0..answer.columns.len();
        let row = |row: usize| columns.clone().map(|column| cell(row, column)).collect();
        Ok(Told {
            rows: (0..answer.rows.len()).map(row).collect(),
            columns: answer
                .columns
                .into_iter()
                .map(|column| column.name)
                .collect(),
        })
    }
}
