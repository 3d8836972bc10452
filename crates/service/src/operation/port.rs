//! The port for operators: `/metrics`, `/healthz`, `/readyz`, in plain HTTP. It takes nothing in and is for a network of one's
//! own: it tells how much a server does.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::{Health, Meters};

/// Type of what meters are told in.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Connections at once.
const MOST: usize = 64;
/// Time that a client has for the head of a request.
const HEAD: Duration = Duration::from_secs(5);

/// Answers operators until it is dropped.
pub async fn serve_operation(listener: TcpListener, health: Arc<Health>, meters: Arc<Meters>) {
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: others may be given back.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let (health, meters) = (Arc::clone(&health), Arc::clone(&meters));
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| {
                let answer = answer(&request, &health, &meters);
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD);
            // Whoever speaks something else is cut off; there is nobody to tell.
            let _ = http.serve_connection(TokioIo::new(stream), answer).await;
            drop(place);
        });
    }
}

fn answer(request: &Request<Incoming>, health: &Health, meters: &Meters) -> Response<Full<Bytes>> {
    let plain = |status: StatusCode, text: String| told(status, "text/plain; charset=utf-8", text);
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "ask with GET\n".to_owned());
    }
    match request.uri().path() {
        "/metrics" => match meters.in_words() {
            Ok(text) => told(StatusCode::OK, OPEN_METRICS, text),
            Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        },
        // Whoever answers lives.
        "/healthz" => plain(StatusCode::OK, "alive\n".to_owned()),
        "/readyz" => {
            let status = match health.is_ready() {
                true => StatusCode::OK,
                false => StatusCode::SERVICE_UNAVAILABLE,
            };
            plain(status, health.in_words())
        }
        _ => plain(
            StatusCode::NOT_FOUND,
            "there are /metrics, /healthz and /readyz\n".to_owned(),
        ),
    }
}

fn told(status: StatusCode, content: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    let content = HeaderValue::from_static(content);
    response.headers_mut().insert(CONTENT_TYPE, content);
    response
}
