import { useEffect, useState } from 'preact/hooks'
import { get, type Json, post, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { bytes, when } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { useLoad } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { CopyButton, Empty, ErrorNotice, Facts, Head, Tabs, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { go, href, place, setQuery } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { attempt } from '../kit/toast.tsx'
import { Analysis } from './message-analysis.tsx'
import { MessageContent } from './message-content.tsx'
import { outcomeLine } from './message-outcome.ts'
import { suppressedOf } from './message-suppression.tsx'
import { MessageTimeline } from './message-timeline.tsx'
import { MessageWebhooks } from './message-webhooks.tsx'

/** One message: timeline of each recipient, content, analysis and webhook deliveries. */
export default function Message({ message_id: id }: { message_id: string }) {
  const loaded = useLoad((signal) => get(`/v1/messages/${id}`, {}, signal), [id])
  const isConnected = useEvents({ message_id: id }, loaded.reload)
  useEffect(() => {
    if (isConnected) loaded.reload() // the stream has no events from before
  }, [isConnected])
  const [round, setRound] = useState(0)
  const { data: message, error } = loaded
  if (error?.status === 404 || error?.status === 403) return <NotFound reason={error.message} />
  if (message === undefined) return <ErrorNotice error={error} onRetry={loaded.reload} />
  const tabs = TABS.filter(([, , operation]) => may(operation))
  const tab = tabs.find(([each]) => each === place.value.query.tab)?.[0] ?? 'timeline'
  return (
    <div class="stack">
      <Head
        name={message.subject || '(no subject)'}
        about={
          <span class="row outcome-line">
            <Chip word={message.status} />
            {message.mode === 'test' && <Chip word="test" />}
            <span class="break">{outcomeLine(message)}</span>
            <Time at={message.created_at} />
          </span>
        }
      >
        <Actions
          message={message}
          onDone={() => {
            setRound(round + 1)
            loaded.reload()
          }}
        />
      </Head>
      <ErrorNotice error={error} onRetry={loaded.reload} />
      <Tabs
        name="Message"
        tabs={tabs.map(([id, name]) => [id, name] as const)}
        chosen={tab}
        onChoose={(tab) => setQuery({ tab: tab === 'timeline' ? '' : tab })}
      >
        {tab === 'timeline' && (
          <MessageTimeline message={message}>
            <Details message={message} />
          </MessageTimeline>
        )}
        {tab === 'content' && <MessageContent key={round} message={message} />}
        {tab === 'analysis' && <Analysis key={round} message={message} />}
        {tab === 'webhooks' && <MessageWebhooks message={message} />}
      </Tabs>
    </div>
  )
}

const TABS = [
  ['timeline', 'Timeline', 'messages_get'],
  ['content', 'Content', 'messages_content'],
  ['analysis', 'Analysis', 'messages_analyze'],
  ['webhooks', 'Webhooks', 'messages_webhook_deliveries'],
] as const

/** Uses the domain and the mode of the message. */
function Actions({ message, onDone }: { message: Json; onDone: () => void }) {
  const { id, status, domain_id, mode } = message
  const caller = { domain: domain_id, headers: { 'x-mode': mode } }
  const resend = async () => {
    const count = message.recipients.length
    const suppressed = await suppressedOf(message)
    const isSure = await confirm({
      name: 'Resend this message?',
      text: (
        <>
          Sends the same content to {count === 1 ? 'the recipient' : `all ${count} recipients`} as a new message.
          {suppressed.length > 0 && <strong> Suppressed recipients do not get it: {suppressed.join(', ')}.</strong>}
        </>
      ),
      action: 'Resend',
    })
    if (!isSure) return
    await attempt(async () => {
      const again = await post(`/v1/messages/${id}/resend`, {}, caller)
      go(`/messages/${again.id}`)
    }, 'Resent as a new message')
  }
  const cancel = async () => {
    const text = 'Postrider will not send it to recipients who have not received it yet.'
    if (
      !(await confirm({
        name: 'Cancel this message?',
        text,
        action: 'Cancel message',
        dismiss: 'Keep',
        isDangerous: true,
      }))
    )
      return
    if (await attempt(() => post(`/v1/messages/${id}/cancel`, {}, caller), 'Message cancelled')) onDone()
  }
  const dropContent = async () => {
    const isSure = await confirm({
      name: 'Delete the content of this message?',
      text: (
        <Facts
          of={[
            [
              'Deleted',
              'Text, HTML, headers, attachments and the raw message. Nobody can read or resend them afterwards.',
            ],
            ['Kept', 'Sender, recipients, subject, tags, metadata, events and delivery attempts.'],
            ['Backups', 'Those made before still contain the content.'],
          ]}
        />
      ),
      action: 'Delete content',
      isDangerous: true,
    })
    if (!isSure || !(await attempt(() => remove(`/v1/messages/${id}/content`, caller), 'Content deleted'))) return
    setQuery({ tab: 'content' })
    onDone()
  }
  return (
    <>
      {may('messages_cancel') && ['scheduled', 'queued', 'deferred'].includes(status) && (
        <button type="button" class="danger" onClick={cancel}>
          Cancel
        </button>
      )}
      {may('messages_resend') && (
        <button type="button" onClick={resend}>
          Resend
        </button>
      )}
      {may('messages_delete_content') && (
        <Menu name="More actions" className="icon-only">
          <MenuItem icon="trash" isDangerous onPress={dropContent}>
            Delete content
          </MenuItem>
        </Menu>
      )}
    </>
  )
}

function Details({ message }: { message: Json }) {
  const { metadata, tags, template_id } = message
  const list = (value: Json) => (value === null ? null : listText([value].flat()))
  return (
    <section class="card stack" aria-labelledby="details">
      <h2 id="details">Details</h2>
      <Facts
        of={[
          ['From', message.from],
          ['To', list(message.to)],
          ['Cc', list(message.cc)],
          ['Bcc', list(message.bcc)],
          ['Reply-To', list(message.reply_to)],
          ['Sent', when(message.created_at)],
          ['Scheduled for', when(message.scheduled_at)],
          ['Size', bytes(message.size_bytes)],
          [
            'Stream',
            may('configuration_get') ? (
              <a href={href('/settings', { tab: 'streams' })}>{message.stream}</a>
            ) : (
              message.stream
            ),
          ],
          ['Source', message.source === 'smtp' ? 'SMTP' : 'API'],
          ['Tags', tags.join(', ')],
          ['Template', template_id && <a href={href(`/templates/${template_id}`)}>{template_id}</a>],
          ['Metadata', Object.keys(metadata).length > 0 && <code class="break">{JSON.stringify(metadata)}</code>],
          [
            'ID',
            <span class="row copied-id" key="id">
              <code class="ellipsis">{message.id}</code>
              <CopyButton text={message.id} label="ID" />
            </span>,
          ],
          [
            'Message-ID',
            <span class="row copied-id" key="message-id">
              <code class="ellipsis" title={message.message_id_header}>
                {message.message_id_header}
              </code>
              <CopyButton text={message.message_id_header} label="Message-ID" />
            </span>,
          ],
        ]}
      />
    </section>
  )
}

/** At most three addresses and the number of the others. */
function listText(addresses: string[]): string {
  const others = addresses.length - 3
  return `${addresses.slice(0, 3).join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}

function NotFound({ reason }: { reason: string }) {
  return (
    <>
      <Head name="Message" />
      <Empty name="Message not found">
        <p>{reason} Postrider deletes messages when the retention period of the plan ends.</p>
        <a href={href('/messages')}>All messages</a>
      </Empty>
    </>
  )
}
