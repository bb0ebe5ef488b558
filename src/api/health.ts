import type { Store } from '../storage/store.ts'
import { unavailable } from './errors.ts'
import { JSON_TYPE } from './rendered-response.ts'
import type { Page } from './route-table.ts'

/** `/healthz` and `/livez`: the process responds. `/readyz`: it can serve requests, because the store is writable,
 *  every listener is up and it is not shutting down; otherwise 503 with the reason. */
export function healthPages(options: {
  store: Pick<Store, 'checkWritable'>
  isReady: () => string | null
  isStopping: () => boolean
}): Page[] {
  const { store, isReady, isStopping } = options
  return [
    { method: 'GET', path: '/healthz', whileStopping: true, handle: () => ok() },
    { method: 'GET', path: '/livez', whileStopping: true, handle: () => ok() },
    {
      method: 'GET',
      path: '/readyz',
      whileStopping: true,
      handle: async () => {
        const fault = isStopping() ? 'this server is shutting down' : isReady()
        if (fault !== null) throw unavailable(fault)
        await store.checkWritable()
        return ok()
      },
    },
  ]
}

function ok(): Response {
  return new Response('{"status":"ok"}', { headers: { 'content-type': JSON_TYPE } })
}
