import type { Endpoint } from '../config/load.ts'
import { Refusal } from '../model/refusal.ts'
import { requestTarget } from '../net/request-target.ts'
import type { MetricsPage } from '../operating/metrics/page.ts'
import type { Supply } from '../os/descriptors.ts'
import { createListener, type Listener } from '../web/api/listener.ts'
import { ListenFailure } from './listeners.ts'

/** The listener for Prometheus alone. */
export interface MetricsListener {
  listening: Endpoint
  stop(): Promise<void>
}

/** Opens the metrics listener; null if it is disabled. It answers `GET` of the metrics page and 404 for everything else.
 *  Throws a ListenFailure. */
export function openMetricsListener(
  at: Endpoint | null,
  options: {
    /** Empty if no network may read metrics. */
    pages: readonly MetricsPage[]
    watchDescriptors: (onSupply: (supply: Supply) => void) => () => void
  },
): MetricsListener | null {
  if (at === null) return null
  const answer = async (request: Request) => {
    const { pathname } = requestTarget(request)
    const page = options.pages.find(({ method, path }) => method === request.method && path === pathname)
    try {
      return (await page?.handle(request, {}, () => listener.addressOf(request))) ?? nothing()
    } catch (error) {
      if (error instanceof Refusal) return error.reason === 'forbidden' ? refused(error.message) : nothing()
      throw error
    }
  }
  const listener = createListener({
    fetch: answer,
    maxBodyBytes: 1024,
    idleSeconds: 30,
    watch: options.watchDescriptors,
    onShut: () => {}, // the API listener logs it
  })
  const listening = opened(listener, at)
  return {
    listening,
    stop: async () => {
      await Promise.all([listener.close(), listener.cut()])
    },
  }
}

function opened(listener: Listener, at: Endpoint): Endpoint {
  try {
    return listener.open(at)
  } catch (cause) {
    throw new ListenFailure('metrics.listen', at, cause)
  }
}

const nothing = () => new Response('no resource at this path\n', { status: 404, headers: PLAIN })
const refused = (why: string) => new Response(`${why}\n`, { status: 403, headers: PLAIN })
const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
