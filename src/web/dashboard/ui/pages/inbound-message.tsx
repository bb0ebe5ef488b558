import { get, type Json } from '../kit/api.ts'
import { bytes, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { Empty, Facts, Head, Unloaded } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { Attachments } from './inbound/attachments.tsx'
import { InboundDeliveries } from './inbound/deliveries.tsx'
import { Verdicts } from './inbound/verdicts.tsx'
import { MessageParts, Source } from './message-content.tsx'

/** One inbound message: check results, envelope, content and webhook deliveries. */
export default function InboundMessagePage({ inbound_message_id: id }: { inbound_message_id: string }) {
  const path = `/v1/inbound-messages/${id}`
  const { data: message, error, reload } = useLoad((signal) => get(path, {}, signal), [id], { everyMs: 5_000 })
  if (message === undefined) {
    return (
      <Unloaded name="Inbound message" error={error} onRetry={reload}>
        <a href={href('/inbound')}>All inbound messages</a>
      </Unloaded>
    )
  }
  return (
    <div class="stack">
      <Head
        name={message.subject || '(no subject)'}
        about={`From ${message.from || 'an empty address'}, received ${when(message.created_at)}`}
      >
        <Chip word={message.status} />
      </Head>
      {message.parse_error && (
        <p class="notice warn">Not fully parsed: {message.parse_error}. The raw message is unchanged.</p>
      )}
      <div class="card stack">
        <Verdicts of={message} />
        <Facts of={factsOf(message)} />
      </div>
      <Parts message={message} />
      {message.action === 'webhook' && may('inbound_messages_redeliver') && (
        <InboundDeliveries message={message} onRedelivered={reload} />
      )}
    </div>
  )
}

function factsOf(message: Json) {
  const { to, return_path, sender_ip, helo, tls, arc_result, message_id, size_bytes, route_id, forwarded_as } = message
  const answered: Json | null = message.in_reply_to
  const notForwarded: Json[] = message.not_forwarded
  return [
    ['To', <bdi>{to.join(', ')}</bdi>],
    ['Return path', return_path || 'none'],
    ['Sending server', `${helo} [${sender_ip}]`],
    ['TLS', tls ?? 'none (plaintext)'],
    ['ARC', arc_result],
    ['Message-ID', message_id],
    [
      'In reply to',
      answered && <a href={href(`/messages/${answered.message_id}`)}>{answered.subject || '(no subject)'}</a>,
    ],
    ['Automatic', message.auto_submitted && 'auto-reply, bounce or list mail'],
    ['Size', bytes(size_bytes)],
    ['Route', route_id === null ? 'none' : <RouteName id={route_id} />],
    [
      'Not forwarded to',
      notForwarded.length > 0 &&
        notForwarded.map(({ email, reason }) => `${email} (${NOT_FORWARDED[reason] ?? reason})`).join(', '),
    ],
    ['Forwarded as', forwarded_as && <a href={href(`/messages/${forwarded_as}`)}>{forwarded_as}</a>],
  ] as const
}

/** Name of a route, as a link to its messages. */
function RouteName({ id }: { id: string }) {
  const mayRead = may('inbound_routes_list')
  const { data, error } = useLoad(
    async (signal) => (mayRead ? get(`/v1/inbound-routes/${id}`, {}, signal) : null),
    [id],
  )
  const name = data?.name ?? (error || data === null ? 'Messages of this route' : '…')
  return (
    <a href={href('/inbound', { route: id })}>
      <bdi>{name}</bdi>
    </a>
  )
}

function Parts({ message }: { message: Json }) {
  const { id, html_body: html, text_body: text, attachments } = message
  if (attachments === null) return <Empty name="Content no longer stored" />
  const parts = (
    <MessageParts html={html || null} text={text || null} name={id} rawPath={`/v1/inbound-messages/${id}/raw`} />
  )
  return (
    <div class="card stack">
      {message.reply_text ? (
        <>
          <h2>Reply</h2>
          <Source text={message.reply_text} />
          <details>
            <summary>Whole message</summary>
            {parts}
          </details>
        </>
      ) : (
        parts
      )}
      <Attachments key={id} message={message} />
    </div>
  )
}

const NOT_FORWARDED: Record<string, string> = {
  pending_confirmation: 'not confirmed yet',
  stopped: 'stopped by the recipient',
  domain_not_verified: 'the domain of the route is not verified',
}
