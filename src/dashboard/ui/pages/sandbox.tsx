import { useEffect, useRef } from 'preact/hooks'
import type { Json } from '../kit/api.ts'
import { when } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Fault, Head } from '../kit/pieces.tsx'
import { ask, href, place } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { Pager } from '../kit/table.tsx'
import { Mail } from './message-mail.tsx'

/** What sandbox keys sent, as a mail catcher shows it: the list on the left, the chosen mail on the right, new ones on top as
 *  they come. `j` and `k` walk through it. */
export default function Sandbox() {
  const pages = usePages('/v1/messages', { mode: 'test', limit: '50' }, { everyMs: 5_000 })
  const timer = useRef(0)
  useEffect(() => () => window.clearTimeout(timer.current), [])
  useEvents({ mode: 'test' }, () => {
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(pages.reload, 250)
  })
  const { data, error, reload } = pages
  const { id } = place.value.query
  const chosen = data?.find((message) => message.id === id) ?? data?.[0]
  return (
    <>
      <Head name="Sandbox inbox" about="Mail of sandbox keys. Nothing of it left the house." />
      <Fault error={error} onRetry={reload} />
      {data?.length === 0 && <NothingYet />}
      {chosen !== undefined && (
        <div class="inbox">
          <div class="stack tight">
            <ol class="card" aria-label="Mails">
              {data!.map((message) => (
                <Row key={message.id} message={message} isChosen={message === chosen} />
              ))}
            </ol>
            <Pager pages={pages} />
          </div>
          <section class="stack" aria-label="The chosen mail">
            <div class="card stack tight">
              <div class="row apart">
                <h2 class="break">{chosen.subject || '(no subject)'}</h2>
                <a href={href(`/messages/${chosen.id}`)}>All about it</a>
              </div>
              <p class="muted break">
                From {chosen.from} to {chosen.recipients.map(({ email }: Json) => email).join(', ')}
              </p>
              <div class="row">
                {[...new Set(chosen.recipients.map(({ status }: Json) => status as string))].map((status) => (
                  <Chip key={`${status}`} word={`${status}`} />
                ))}
                <span class="muted small">{when(chosen.created_at)}</span>
              </div>
            </div>
            <Mail key={chosen.id} message={chosen} />
          </section>
        </div>
      )}
    </>
  )
}

function Row({ message, isChosen }: { message: Json; isChosen: boolean }) {
  const { id, subject, recipients, status, created_at } = message
  return (
    <li>
      <a
        data-row
        href={href('/sandbox', { id })}
        aria-current={isChosen ? 'true' : undefined}
        onFocus={() => ask({ id })}
        class="stack tight"
      >
        <span class="row apart">
          <span class="break grow">{recipients[0]?.email}</span>
          <time class="muted small num">{when(created_at)}</time>
        </span>
        <span class="row apart">
          <strong class="break grow">{subject || '(no subject)'}</strong>
          <Chip word={status} />
        </span>
      </a>
    </li>
  )
}

function NothingYet() {
  return (
    <Empty name="Nothing was sent with a sandbox key yet">
      <p>
        A key that begins with <code>svc_test_</code> takes the whole way and leaves nothing out. The recipient’s name
        chooses what happens:
      </p>
      <p>
        <code>bounce@ softbounce@ defer@ complain@ open@ click@ unsubscribe@ suppressed@</code>
      </p>
    </Empty>
  )
}
