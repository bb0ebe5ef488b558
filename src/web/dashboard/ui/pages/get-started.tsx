import { get, type Paged } from '../kit/api.ts'
import { useLoad } from '../kit/load.ts'
import { CopyButton } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { organization } from '../kit/state.ts'
import { AddDomainForm } from './domains/add.tsx'

/** Loads the steps to the first delivered message. */
export const useSteps = () => useLoad(loadSteps, [], { everyMs: 15_000 })

/** Steps to the first delivered message; nothing once a message was delivered. */
export function GetStarted({ steps: data }: { steps: Steps | undefined }) {
  if (data === undefined || data.isComplete) return null
  const done = data.steps.filter(({ isDone }) => isDone).length
  const next = data.steps.find(({ isDone, id }) => !isDone && id !== 'webhook')
  return (
    <section class="card stack" aria-labelledby="get-started">
      <div class="row apart">
        <h2 id="get-started">Get started</h2>
        <span class="muted small">
          {done} of {data.steps.length} done
        </span>
      </div>
      <ol class="steps">
        {data.steps.map((step) => (
          <li key={step.name} class={step.isDone ? 'done' : undefined}>
            <span class="mark" aria-hidden="true">
              {step.isDone ? '✓' : ''}
            </span>
            <div class="stack tight grow">
              <div>
                <a href={href(step.path, step.query)}>{step.name}</a>
                <span class="hidden">{step.isDone ? ' (done)' : ' (to do)'}</span>
              </div>
              {!step.isDone && <p class="muted small">{step.about}</p>}
              {step === next && <Control of={step} />}
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** What does the next step, in the page. */
function Control({ of: { name, id, path, query, domain } }: { of: Step }) {
  if (id === 'domain') return <AddDomainForm />
  return (
    <>
      {id === 'send' && <Command domain={domain} />}
      <div>
        <a class="button primary" href={href(path, query)}>
          {id === 'send' ? 'Compose one here' : name}
        </a>
      </div>
    </>
  )
}

/** A command that is ready to copy but for the key, which the server does not have. */
function Command({ domain }: { domain: string }) {
  const command = `curl ${window.location.origin}/v1/messages/send \\
  -H "Authorization: Bearer $POSTRIDER_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"from":"hello@${domain}","to":"you@example.org","subject":"Hello","text":"It works."}'`
  return (
    <div class="transcript">
      <CopyButton text={command} label="command" />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <pre tabIndex={0}>{command}</pre>
    </div>
  )
}

interface Step {
  id: 'domain' | 'dns' | 'key' | 'webhook' | 'send'
  name: string
  about: string
  path: string
  query?: Record<string, string>
  isDone: boolean
  /** The domain to send from; '' without one. */
  domain: string
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
  const sending = domains.data.find(({ sends_live }) => sends_live)
  const domain: string = (sending ?? domains.data[0])?.name ?? ''
  const steps: Omit<Step, 'domain'>[] = [
    {
      id: 'domain',
      name: 'Add a domain',
      about: 'The domain of your From address.',
      path: '/domains',
      query: { add: 'yes' },
      isDone: domains.data.length > 0,
    },
    {
      id: 'dns',
      name: 'Publish the DNS records',
      about: 'Required before you can send live messages.',
      path: domains.data[0] ? `/domains/${domains.data[0].id}` : '/domains',
      isDone: sending !== undefined,
    },
    {
      id: 'key',
      name: 'Create an API key',
      about: 'Try the API with a test key. Send with a live key.',
      path: '/api-keys',
      query: { create: 'yes' },
      isDone: keys.data.some(({ revoked_at }) => revoked_at === null),
    },
    {
      id: 'webhook',
      name: 'Add a webhook',
      about: 'Optional. Receive bounces, complaints and other events.',
      path: '/webhooks',
      query: { create: 'yes' },
      isDone: webhooks.data.length > 0,
    },
    {
      id: 'send',
      name: 'Send a message',
      about: 'Compose one here, or call POST /v1/messages/send with an API key.',
      path: '/messages',
      query: { compose: 'yes' },
      isDone: messages.data.length > 0,
    },
  ]
  return { isComplete: false, steps: steps.map((step) => ({ ...step, domain })) }
}
