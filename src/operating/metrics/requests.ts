import type { Registry } from './registry.ts'

/** Seconds. */
const REQUEST_BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5, 30]

/** One answered HTTP request. `operation` is the operation id or the path pattern. */
export interface AnsweredRequest {
  operation: string
  status: number
  durationMs: number
}

/** Returns the recorder of answered requests. */
export function countRequests(registry: Registry): (request: AnsweredRequest) => void {
  const requests = registry.counter('postrider_http_requests_total', 'HTTP requests, by operation and status.', [
    'operation',
    'status',
  ])
  const durations = registry.histogram('postrider_http_request_seconds', 'Duration of HTTP requests.', REQUEST_BOUNDS)
  return ({ operation, status, durationMs }) => {
    requests([operation, String(status)])
    durations(durationMs / 1000)
  }
}
