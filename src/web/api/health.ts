import type { Store } from '../../storage/store.ts'
import { unavailable } from './errors.ts'
import { JSON_TYPE } from './rendered-response.ts'
import type { Page } from './route-table.ts'

/** The health check pages. `/healthz` and `/livez` return 200 while the process responds. `/readyz` and
 *  `/health/ready` return 200 if the store is writable, `isReady` returns null and the server is not shutting down;
 *  otherwise 503 with the reason. `isReady` returns the reason why the server is not ready. */
export function healthPages(options: {
  store: Pick<Store, 'checkWritable'>
  isReady: () => string | null
  isStopping: () => boolean
}): Page[] {
  const { store, isReady, isStopping } = options
  const ready = async () => {
    const fault = isStopping() ? 'this server is shutting down' : isReady()
    if (fault !== null) throw unavailable(fault)
    await store.checkWritable()
    return ok()
  }
  return [
    { method: 'GET', path: '/healthz', whileStopping: true, handle: () => ok() },
    { method: 'GET', path: '/livez', whileStopping: true, handle: () => ok() },
    ...READY_PATHS.map((path): Page => ({ method: 'GET', path, whileStopping: true, handle: ready })),
  ]
}

/** Two names of one check. */
const READY_PATHS = ['/readyz', '/health/ready']

function ok(): Response {
  return new Response('{"status":"ok"}', { headers: { 'content-type': JSON_TYPE } })
}
