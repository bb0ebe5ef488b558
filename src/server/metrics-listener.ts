import { createListener, type Listener } from '../api/listener.ts'
import type { Endpoint } from '../config/load.ts'
import type { MetricsPage } from '../metrics/page.ts'
import { Refusal } from '../model/refusal.ts'
import { requestTarget } from '../net/request-target.ts'
import type { Supply } from '../os/descriptors.ts'
import { ListenFailure } from './listeners.ts'

/** The listener that Prometheus has to itself. */
export interface MetricsDoor {
  listening: Endpoint
  stop(): Promise<void>
}

/** Where to listen, and what is to be read there (none when no network may ask) → the door, open: `GET` of the page's path is
 *  answered, all else is 404. Null when there is nowhere. Throws a ListenFailure. */
export function openMetricsDoor(
  at: Endpoint | null,
  options: { pages: readonly MetricsPage[]; watch: (tell: (supply: Supply) => void) => () => void },
): MetricsDoor | null {
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
    watch: options.watch,
    onShut: () => {}, // told by the one of the API
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

const nothing = () => new Response('there is nothing at this path\n', { status: 404, headers: PLAIN })
const refused = (why: string) => new Response(`${why}\n`, { status: 403, headers: PLAIN })
const PLAIN = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
