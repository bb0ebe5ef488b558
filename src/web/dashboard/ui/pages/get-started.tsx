import { get, type Paged } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { organization } from '../kit/state.ts'

/** Loads the steps to the first delivered message. */
export const useSteps = () => useLoad(loadSteps, [], { everyMs: 15_000 })

/** Steps to the first delivered message; nothing once a message was delivered. */
export function GetStarted({ steps: data }: { steps: Steps | undefined }) {
  if (data === undefined || data.isComplete) return null
  const done = data.steps.filter(({ isDone }) => isDone).length
  return (
    <section class="card stack" aria-labelledby="get-started">
      <div class="row apart">
        <h2 id="get-started">Get started</h2>
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

interface Steps {
  isComplete: boolean
  steps: Step[]
}

async function loadSteps(signal: AbortSignal): Promise<Steps> {
  if (organization.peek() === null || !may('domains_create')) return { isComplete: true, steps: [] }
  const live = { mode: 'live', limit: 1 }
  const delivered = await get<Paged>('/v1/messages', { ...live, status: 'delivered' }, signal)
  if (delivered.data.length > 0) return { isComplete: true, steps: [] }
  const [domains, keys, webhooks, messages] = await Promise.all([
    get<Paged>('/v1/domains', { limit: 100 }, signal),
    get<Paged>('/v1/api-keys', { limit: 100 }, signal),
    get<Paged>('/v1/webhooks', { limit: 1 }, signal),
    get<Paged>('/v1/messages', live, signal),
  ])
  const isVerified = domains.data.some(({ status }) => status === 'verified')
  return {
    isComplete: false,
    steps: [
      {
        name: 'Add a domain',
        about: 'The domain of your From address.',
        path: '/domains',
        isDone: domains.data.length > 0,
      },
      {
        name: 'Publish the DNS records',
        about: 'Required before you can send live messages.',
        path: domains.data[0] ? `/domains/${domains.data[0].id}` : '/domains',
        isDone: isVerified,
      },
      {
        name: 'Create an API key',
        about: 'Try the API with a test key. Send with a live key.',
        path: '/api-keys',
        isDone: keys.data.some(({ revoked_at }) => revoked_at === null),
      },
      {
        name: 'Add a webhook',
        about: 'Optional. Receive bounces, complaints and other events.',
        path: '/webhooks',
        isDone: webhooks.data.length > 0,
      },
      {
        name: 'Send a message',
        about: 'Compose one here, or call POST /v1/messages/send with an API key.',
        path: '/messages',
        query: { compose: 'yes' },
        isDone: messages.data.length > 0,
      },
    ],
  }
}
