import { useState } from 'preact/hooks'
import { get, type Json, post, remove } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { precise, when } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { useLoad } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { Copied, ErrorNotice, Facts, Head, isGone, Tabs, Time, Unloaded, useOneAtATime } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { go, href, notePage, place, setQuery } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { attempt } from '../kit/toast.tsx'
import { Analysis } from './message-analysis.tsx'
import { MessageContent } from './message-content.tsx'
import { outcomeLine } from './message-outcome.ts'
import { suppressedOf } from './message-suppression.tsx'
import { MessageTimeline, useStory, whyOf } from './message-timeline.tsx'
import { MessageWebhooks } from './message-webhooks.tsx'

/** One message: timeline of each recipient, content, analysis and webhook deliveries. */
export default function Message({ message_id: id }: { message_id: string }) {
  const loaded = useLoad((signal) => get(`/v1/messages/${id}`, {}, signal), [id])
  useEvents({ message_id: id }, loaded.reload)
  const [round, setRound] = useState(0)
  const { data: message, error } = loaded
  const story = useStory(message)
  if (message === undefined || isGone(error)) {
    return (
      <Unloaded name="Message" error={error} onRetry={loaded.reload}>
        <p>{error?.message} Postrider deletes messages when the retention period of the plan ends.</p>
        <a href={href('/messages')}>All messages</a>
      </Unloaded>
    )
  }
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
            <bdi class="break">
              {outcomeLine(message, whyOf(story.data, message.recipients[0].email)?.bounce_class)}
            </bdi>
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
          <MessageTimeline message={message} story={story}>
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
  const resend = useOneAtATime(async () => {
    const count = message.recipients.length
    const isStillHere = notePage()
    const suppressed = await suppressedOf(message)
    if (!isStillHere()) return
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
      if (isStillHere()) go(`/messages/${again.id}`)
    }, 'Resent as a new message')
  })
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
    const isStillHere = notePage()
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
    if (isStillHere()) setQuery({ tab: 'content' })
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
        <button type="button" data-key="r" title="Shortcut: r" onClick={resend}>
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
  const { tags, template_id, key_id } = message
  const list = (value: Json) => (value === null ? null : <bdi>{listText([value].flat())}</bdi>)
  return (
    <section class="card stack" aria-labelledby="details">
      <h2 id="details">Details</h2>
      <Facts
        of={[
          ['From', <bdi key="from">{message.from}</bdi>],
          ['To', list(message.to)],
          ['Cc', list(message.cc)],
          ['Bcc', list(message.bcc)],
          ['Reply-To', list(message.reply_to)],
          ['Sent', precise(message.created_at)],
          ['Scheduled for', when(message.scheduled_at)],
          [
            'Sent with',
            key_id &&
              (key_id === 'operator' || may('api_keys_get') ? (
                <NameOf key="key" path={`/v1/api-keys/${key_id}`} link="/api-keys" other="Dashboard" />
              ) : (
                <code key="key">{key_id}</code>
              )),
          ],
          ['Source', message.source === 'smtp' && 'SMTP'],
          [
            'Stream',
            may('configuration_get') ? (
              <a href={href('/settings', { tab: 'streams' })}>{message.stream}</a>
            ) : (
              message.stream
            ),
          ],
          [
            'Tags',
            tags.length > 0 && (
              <span class="row tight" key="tags">
                {tags.map((tag: string) => (
                  <a key={tag} href={href('/messages', { tag })}>
                    <bdi>{tag}</bdi>
                  </a>
                ))}
              </span>
            ),
          ],
          [
            'Template',
            template_id && (
              <NameOf
                key="template"
                path={`/v1/templates/${template_id}`}
                link={`/templates/${template_id}`}
                other={template_id}
              />
            ),
          ],
          ...Object.entries(message.metadata).map(
            ([name, value]) =>
              [
                name,
                <bdi key={name} class="break">
                  {typeof value === 'string' ? value : JSON.stringify(value)}
                </bdi>,
              ] as const,
          ),
          ['ID', <Copied key="id" text={message.id} label="ID" />],
          ['Message-ID', <Copied key="message-id" text={message.message_id_header} label="Message-ID" />],
        ]}
      />
    </section>
  )
}

/** Link to a record with its name; `other` if it is gone or has none. */
function NameOf({ path, link, other }: { path: string; link: string; other: string }) {
  const { data, error } = useLoad(async (signal) => (path.endsWith('/operator') ? null : get(path, {}, signal)), [path])
  if (data?.name === undefined) return <>{error || data === null ? other : '…'}</>
  return (
    <a href={href(link)}>
      <bdi>{data.name}</bdi>
    </a>
  )
}

/** At most three addresses and the number of the others. */
function listText(addresses: string[]): string {
  const others = addresses.length - 3
  return `${addresses.slice(0, 3).join(', ')}${others > 0 ? ` and ${others} more` : ''}`
}
