import { useState } from 'preact/hooks'
import { get, getText, type Json } from '../kit/api.ts'
import { bytes, when } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { MailFrame } from '../kit/mail-frame.tsx'
import { Empty, Facts, Fault, Head, Tabs } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { Posts } from './inbound/posts.tsx'
import { Verdicts } from './inbound/verdicts.tsx'
import { Headers, SaveRaw, Source } from './message-mail.tsx'

/** One mail that came in: from whom, what it says, and what was done with it. */
export default function InboundMessagePage({ inbound_message_id: id }: { inbound_message_id: string }) {
  const path = `/v1/inbound-messages/${id}`
  const { data: message, error, reload } = useLoad((signal) => get(path, {}, signal), [id], { everyMs: 5_000 })
  if (message === undefined) {
    if (error?.status !== 404 && error?.status !== 403) {
      return error ? <Fault error={error} onRetry={reload} /> : <Head name="Inbound mail" />
    }
    return (
      <>
        <Head name="Inbound mail" />
        <Empty name="There is no such mail here">
          <a href={href('/inbound')}>All inbound mail</a>
        </Empty>
      </>
    )
  }
  return (
    <div class="stack">
      <Head
        name={message.subject || '(no subject)'}
        about={`From ${message.from || 'nobody'}, ${when(message.created_at)}.`}
      >
        <Chip word={message.status} />
      </Head>
      {message.parse_error && (
        <p class="notice warn">It could not be read wholly: {message.parse_error}. The raw mail is as it came.</p>
      )}
      <div class="card stack">
        <Verdicts of={message} />
        <Facts of={factsOf(message)} />
      </div>
      <Parts message={message} />
      {message.action === 'webhook' && <Posts message={message} onRedelivered={reload} />}
    </div>
  )
}

function factsOf(message: Json) {
  const { to, return_path, sender_ip, helo, tls, arc_result, message_id, size_bytes, route_id, forwarded_as } = message
  const notForwarded: Json[] = message.not_forwarded
  return [
    ['To', to.join(', ')],
    ['Return path', return_path || 'none'],
    ['Handed in by', `${helo} [${sender_ip}]`],
    ['TLS', tls ?? 'none: it came in the clear'],
    ['ARC', arc_result],
    ['Message-ID', message_id],
    ['Size', bytes(size_bytes)],
    ['Route', route_id === null ? 'none' : <a href={href('/inbound', { route: route_id })}>other mail of it</a>],
    [
      'Not forwarded to',
      notForwarded.length > 0 &&
        notForwarded.map(({ email, reason }) => `${email} (${NOT_FORWARDED[reason] ?? reason})`).join(', '),
    ],
    ['Sent on as', forwarded_as && <a href={href(`/messages/${forwarded_as}`)}>{forwarded_as}</a>],
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
  if (attachments === null) return <Empty name="The content of this mail is no longer kept" />
  const chosen = part ?? (html === '' ? 'text' : 'preview')
  return (
    <div class="card stack">
      <Tabs<Part> name="Parts" tabs={PARTS} chosen={chosen} onChoose={setPart}>
        {chosen === 'preview' &&
          (html === '' ? <Empty name="This mail has no HTML part" /> : <MailFrame html={html} />)}
        {chosen === 'text' && (text === '' ? <Empty name="This mail has no text part" /> : <Source text={text} />)}
        {chosen === 'source' && (html === '' ? <Empty name="This mail has no HTML part" /> : <Source text={html} />)}
        {(chosen === 'headers' || chosen === 'raw') && <Raw id={message.id} part={chosen} />}
      </Tabs>
      {attachments.length > 0 && (
        <div class="stack tight">
          <h2>Attachments</h2>
          <ul class="plain-list">
            {attachments.map(({ filename, content_type, size }: Json, at: number) => (
              <li key={`${at}`} class="break">
                {filename || '(without a name)'}{' '}
                <span class="muted small">
                  {content_type}, {bytes(size)}
                </span>
              </li>
            ))}
          </ul>
          <p class="muted small">They are in the raw mail.</p>
        </div>
      )}
    </div>
  )
}

function Raw({ id, part }: { id: string; part: 'headers' | 'raw' }) {
  const { data, error, reload } = useLoad((signal) => getText(`/v1/inbound-messages/${id}/raw`, {}, signal), [id])
  if (data === undefined) return <Fault error={error} onRetry={reload} />
  if (part === 'headers') return <Headers raw={data} />
  return (
    <div class="stack tight">
      <span>
        <SaveRaw path={`/v1/inbound-messages/${id}/raw`} name={id} />
      </span>
      <Source text={data} />
    </div>
  )
}

const NOT_FORWARDED: Record<string, string> = {
  pending_confirmation: 'not confirmed yet',
  stopped: 'stopped by its owner',
  domain_not_verified: 'the domain of the route is not verified',
}
