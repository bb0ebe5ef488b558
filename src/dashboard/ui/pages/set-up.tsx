import { get, type Paged } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { href } from '../kit/router.ts'
import { organization } from '../kit/state.ts'

/** What is between here and the first delivered mail; gone once there was one. */
export function SetUp() {
  const { data } = useLoad(look, [], { everyMs: 15_000 })
  if (data === undefined || data.isOver) return null
  const done = data.steps.filter(({ isDone }) => isDone).length
  return (
    <section class="card stack" aria-labelledby="set-up">
      <div class="row apart">
        <h2 id="set-up">To the first mail</h2>
        <span class="muted small">
          {done} of {data.steps.length} done
        </span>
      </div>
      <ol class="steps">
        {data.steps.map(({ name, about, path, query, isDone }) => (
          <li key={name} class={isDone ? 'done' : undefined}>
            <span class="mark" aria-hidden="true">
              {isDone ? '✓' : ''}
            </span>
            <span>
              <a href={href(path, query)}>{name}</a>
              <span class="hidden">{isDone ? ' (done)' : ' (to do)'}</span>
              <br />
              <span class="muted small">{about}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

interface Step {
  name: string
  about: string
  path: string
  query?: Record<string, string>
  isDone: boolean
}

async function look(signal: AbortSignal): Promise<{ isOver: boolean; steps: Step[] }> {
  if (organization.peek() === null) return { isOver: true, steps: [] }
  const live = { mode: 'live', limit: 1 }
  const delivered = await get<Paged>('/v1/messages', { ...live, status: 'delivered' }, signal)
  if (delivered.data.length > 0) return { isOver: true, steps: [] }
  const [domains, keys, webhooks, messages] = await Promise.all([
    get<Paged>('/v1/domains', { limit: 100 }, signal),
    get<Paged>('/v1/api-keys', { limit: 100 }, signal),
    get<Paged>('/v1/webhooks', { limit: 1 }, signal),
    get<Paged>('/v1/messages', live, signal),
  ])
  const isVerified = domains.data.some(({ status }) => status === 'verified')
  return {
    isOver: false,
    steps: [
      {
        name: 'Add a domain',
        about: 'The one that stands in From.',
        path: '/domains',
        isDone: domains.data.length > 0,
      },
      {
        name: 'Publish its DNS records',
        about: 'Until they are seen, no live mail leaves.',
        path: domains.data[0] ? `/domains/${domains.data[0].id}` : '/domains',
        isDone: isVerified,
      },
      {
        name: 'Make an API key',
        about: 'For your program; a sandbox key to try with, a live one to send.',
        path: '/api-keys',
        isDone: keys.data.some(({ revoked_at }) => revoked_at === null),
      },
      {
        name: 'Add a webhook',
        about: 'To hear of bounces and complaints; it can wait.',
        path: '/webhooks',
        isDone: webhooks.data.length > 0,
      },
      {
        name: 'Send a mail',
        about: 'Written here, or by your program: POST /v1/messages/send with its key.',
        path: '/messages',
        query: { compose: 'yes' },
        isDone: messages.data.length > 0,
      },
    ],
  }
}
