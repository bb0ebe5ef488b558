import { useState } from 'preact/hooks'
import { get, getText, type Json } from '../kit/api.ts'
import { bytes, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { MailFrame } from '../kit/mail-frame.tsx'
import { Empty, ErrorNotice, Facts, Head, Pending, Tabs } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { InboundDeliveries } from './inbound/deliveries.tsx'
import { Verdicts } from './inbound/verdicts.tsx'
import { DownloadRaw, Headers, Source } from './message-content.tsx'

/** One inbound message: check results, envelope, content and webhook deliveries. */
export default function InboundMessagePage({ inbound_message_id: id }: { inbound_message_id: string }) {
  const path = `/v1/inbound-messages/${id}`
  const { data: message, error, reload } = useLoad((signal) => get(path, {}, signal), [id], { everyMs: 5_000 })
  if (message === undefined) {
    if (error?.status !== 404 && error?.status !== 403) {
      return error ? <ErrorNotice error={error} onRetry={reload} /> : <Head name="Inbound message" />
    }
    return (
      <>
        <Head name="Inbound message" />
        <Empty name="Message not found">
          <a href={href('/inbound')}>All inbound messages</a>
        </Empty>
      </>
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
  const notForwarded: Json[] = message.not_forwarded
  return [
    ['To', to.join(', ')],
    ['Return path', return_path || 'none'],
    ['Sending server', `${helo} [${sender_ip}]`],
    ['TLS', tls ?? 'none (plaintext)'],
    ['ARC', arc_result],
    ['Message-ID', message_id],
    ['Size', bytes(size_bytes)],
    ['Route', route_id === null ? 'none' : <a href={href('/inbound', { route: route_id })}>View its messages</a>],
    [
      'Not forwarded to',
      notForwarded.length > 0 &&
        notForwarded.map(({ email, reason }) => `${email} (${NOT_FORWARDED[reason] ?? reason})`).join(', '),
    ],
    ['Forwarded as', forwarded_as && <a href={href(`/messages/${forwarded_as}`)}>{forwarded_as}</a>],
  ] as const
}

type Part = (typeof PARTS)[number][0]
const PARTS = [
  ['preview', 'Preview'],
  ['text', 'Text'],
  ['source', 'HTML source'],
  ['headers', 'Headers'],
  ['raw', 'Raw'],
] as const

function Parts({ message }: { message: Json }) {
  const { html_body: html, text_body: text, attachments } = message
  const [part, setPart] = useState<Part | null>(null)
  if (attachments === null) return <Empty name="Content no longer stored" />
  const chosen = part ?? (html === '' ? 'text' : 'preview')
  return (
    <div class="card stack">
      <Tabs<Part> name="Parts" tabs={PARTS} chosen={chosen} onChoose={setPart}>
        {chosen === 'preview' && (html === '' ? <Empty name="No HTML part" /> : <MailFrame html={html} />)}
        {chosen === 'text' && (text === '' ? <Empty name="No text part" /> : <Source text={text} />)}
        {chosen === 'source' && (html === '' ? <Empty name="No HTML part" /> : <Source text={html} />)}
        {(chosen === 'headers' || chosen === 'raw') && <Raw id={message.id} part={chosen} />}
      </Tabs>
      {attachments.length > 0 && (
        <div class="stack tight">
          <h2>Attachments</h2>
          <ul class="plain-list">
            {attachments.map(({ filename, content_type, size }: Json, at: number) => (
              <li key={`${at}`} class="break">
                {filename || '(unnamed)'}{' '}
                <span class="muted small">
                  {content_type}, {bytes(size)}
                </span>
              </li>
            ))}
          </ul>
          <p class="muted small">Download the raw message to get the attachments.</p>
        </div>
      )}
    </div>
  )
}

function Raw({ id, part }: { id: string; part: 'headers' | 'raw' }) {
  const { data, error, reload } = useLoad((signal) => getText(`/v1/inbound-messages/${id}/raw`, {}, signal), [id])
  if (data === undefined) return <Pending error={error} onRetry={reload} />
  if (part === 'headers') return <Headers raw={data} />
  return (
    <div class="stack tight">
      <span>
        <DownloadRaw path={`/v1/inbound-messages/${id}/raw`} name={id} />
      </span>
      <Source text={data} />
    </div>
  )
}

const NOT_FORWARDED: Record<string, string> = {
  pending_confirmation: 'not confirmed yet',
  stopped: 'stopped by the recipient',
  domain_not_verified: 'the domain of the route is not verified',
}
