import { useRef } from 'preact/hooks'
import type { Json } from '../kit/api.ts'
import { when } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { usePages } from '../kit/load.ts'
import { Empty, ErrorNotice, Head } from '../kit/pieces.tsx'
import { amendQuery, href, place } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { Pager } from '../kit/table.tsx'
import { MessageContent } from './message-content.tsx'

/** Test messages as an inbox: the list on the left, the selected message on the right. New messages appear at the top.
 *  The one that is shown stays. `j` and `k` move through the list. */
export default function Sandbox() {
  const pages = usePages('/v1/messages', { mode: 'test', limit: '50' }, { everyMs: 5_000 })
  useEvents({ mode: 'test' }, pages.reload)
  const { data, error, isOld, isLoading, reload } = pages
  const shown = useRef<string | undefined>(undefined)
  const { id = shown.current } = place.value.query
  const chosen = data?.find((message) => message.id === id) ?? data?.[0]
  shown.current = chosen?.id
  return (
    <>
      <Head name="Sandbox inbox" about="Messages sent with test keys. Test messages are never delivered." />
      <ErrorNotice error={error} onRetry={reload} />
      {data?.length === 0 && <NoMessages />}
      {chosen !== undefined && (
        <div class="inbox">
          <div class="stack tight">
            <ol class={`card ${isOld ? 'old' : ''}`} aria-label="Messages" aria-busy={isLoading}>
              {data?.map((message) => (
                <Row key={message.id} message={message} isChosen={message === chosen} />
              ))}
            </ol>
            <Pager pages={pages} />
          </div>
          <section class="stack" aria-label="Selected message">
            <div class="card stack tight">
              <div class="row apart">
                <h2 class="break" dir="auto">
                  {chosen.subject || '(no subject)'}
                </h2>
                <a href={href(`/messages/${chosen.id}`)}>View details</a>
              </div>
              <p class="muted break">
                From {chosen.from} to {chosen.recipients.map(({ email }: Json) => email).join(', ')}
              </p>
              <div class="row">
                {[...new Set<string>(chosen.recipients.map(({ status }: Json) => status))].map((status) => (
                  <Chip key={status} word={status} />
                ))}
                <span class="muted small">{when(chosen.created_at)}</span>
              </div>
            </div>
            <MessageContent key={chosen.id} message={chosen} />
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
        href={href('/sandbox', { ...place.value.query, id })}
        aria-current={isChosen ? 'true' : undefined}
        onFocus={() => amendQuery({ id })}
        class="stack tight"
      >
        <span class="row apart">
          <bdi class="break grow">{recipients[0]?.email}</bdi>
          <time class="muted small num">{when(created_at)}</time>
        </span>
        <span class="row apart">
          <strong class="break grow" dir="auto">
            {subject || '(no subject)'}
          </strong>
          <Chip word={status} />
        </span>
      </a>
    </li>
  )
}

function NoMessages() {
  return (
    <Empty name="No test messages yet">
      <p>
        Send with a key that starts with <code>svc_test_</code>. Postrider processes the message but never delivers it.
        The recipient name sets the simulated result:
      </p>
      <p>
        <code>bounce@ softbounce@ defer@ complain@ open@ click@ unsubscribe@ suppressed@</code>
      </p>
    </Empty>
  )
}
