import { get, type Json, post } from '../kit/api.ts'
import { confirm } from '../kit/dialog.tsx'
import { bytes, when } from '../kit/format.ts'
import { useEvents } from '../kit/live.ts'
import { useLoad } from '../kit/load.ts'
import { CopyButton, Empty, Facts, Fault, Head, Tabs } from '../kit/pieces.tsx'
import { ask, go, href, place } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { attempt } from '../kit/toast.tsx'
import { Analysis } from './message-analysis.tsx'
import { Life } from './message-life.tsx'
import { Mail } from './message-mail.tsx'
import { Told } from './message-webhooks.tsx'

/** One message: what happened to it for each recipient and why, the mail itself, what readers will mind in it, and what
 *  webhooks were told. */
export default function Message({ message_id: id }: { message_id: string }) {
  const loaded = useLoad((signal) => get(`/v1/messages/${id}`, {}, signal), [id])
  useEvents({ message_id: id }, loaded.reload)
  const { data: message, error } = loaded
  if (error?.status === 404 || error?.status === 403) return <Gone words={error.message} />
  if (message === undefined) return <Fault error={error} onRetry={loaded.reload} />
  const tab = TABS.find(([each]) => each === place.value.query.tab)?.[0] ?? 'life'
  return (
    <div class="stack">
      <Head
        name={message.subject || '(no subject)'}
        about={
          <span class="row">
            <Chip word={message.status} />
            {message.mode === 'test' && <Chip word="sandbox" />}
            <span>{when(message.created_at)}</span>
          </span>
        }
      >
        <Actions message={message} onDone={loaded.reload} />
      </Head>
      <Fault error={error} onRetry={loaded.reload} />
      <Tabs
        name="About this message"
        tabs={TABS}
        chosen={tab}
        onChoose={(tab) => ask({ tab: tab === 'life' ? '' : tab })}
      >
        {tab === 'life' && (
          <div class="stack">
            <Life message={message} />
            <About message={message} />
          </div>
        )}
        {tab === 'mail' && <Mail message={message} />}
        {tab === 'analysis' && <Analysis message={message} />}
        {tab === 'webhooks' && <Told message={message} />}
      </Tabs>
    </div>
  )
}

const TABS = [
  ['life', 'What happened'],
  ['mail', 'The mail'],
  ['analysis', 'Analysis'],
  ['webhooks', 'Webhooks'],
] as const

/** As whoever sent it would: for its domain and in its mode. */
function Actions({ message, onDone }: { message: Json; onDone: () => void }) {
  const { id, status, domain_id, mode } = message
  const as = { domain: domain_id, headers: { 'x-mode': mode } }
  const resend = async () => {
    const yes = await confirm({
      name: 'Send it again?',
      text: `The same mail goes to the same ${message.recipients.length} recipients once more, as a new message.`,
      action: 'Send again',
    })
    if (!yes) return
    await attempt(async () => {
      const again = await post(`/v1/messages/${id}/resend`, {}, as)
      go(`/messages/${again.id}`)
    }, 'Sent again: this is the new message')
  }
  const cancel = async () => {
    const text = 'What was not delivered yet will not be.'
    if (!(await confirm({ name: 'Cancel this message?', text, action: 'Cancel it', isDangerous: true }))) return
    if (await attempt(() => post(`/v1/messages/${id}/cancel`, {}, as), 'Cancelled')) onDone()
  }
  return (
    <>
      {['scheduled', 'queued', 'deferred'].includes(status) && (
        <button type="button" class="danger" onClick={cancel}>
          Cancel
        </button>
      )}
      <button type="button" onClick={resend}>
        Send again
      </button>
    </>
  )
}

function About({ message }: { message: Json }) {
  const { metadata, tags, template_id } = message
  const list = (value: Json) => (value === null ? null : [value].flat().join(', '))
  return (
    <section class="card stack" aria-labelledby="about">
      <h2 id="about">About it</h2>
      <Facts
        of={[
          ['From', message.from],
          ['To', list(message.to)],
          ['Cc', list(message.cc)],
          ['Bcc', list(message.bcc)],
          ['Reply to', list(message.reply_to)],
          ['Scheduled', when(message.scheduled_at)],
          ['Size', bytes(message.size_bytes)],
          ['Handed in', message.source === 'smtp' ? 'by SMTP' : 'by the API'],
          ['Tags', tags.join(', ')],
          ['Template', template_id && <a href={href(`/templates/${template_id}`)}>{template_id}</a>],
          ['Metadata', Object.keys(metadata).length > 0 && <code class="break">{JSON.stringify(metadata)}</code>],
          [
            'Id',
            <span class="row" key="id">
              <code class="break">{message.id}</code>
              <CopyButton text={message.id} label="the id" />
            </span>,
          ],
          [
            'Message-ID',
            <span class="row" key="message-id">
              <code class="break">{message.message_id_header}</code>
              <CopyButton text={message.message_id_header} label="the Message-ID" />
            </span>,
          ],
        ]}
      />
    </section>
  )
}

function Gone({ words }: { words: string }) {
  return (
    <>
      <Head name="Message" />
      <Empty name="There is no such message here">
        <p>{words} What plans no longer keep is removed.</p>
        <a href={href('/messages')}>To the messages</a>
      </Empty>
    </>
  )
}
