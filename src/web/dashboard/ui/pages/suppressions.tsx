import { useState } from 'preact/hooks'
import { TRANSACTIONAL } from '../../../../model/message.ts'
import { getText, type Json, post, remove, save } from '../kit/api.ts'
import { confirm, Dialog } from '../kit/dialog.tsx'
import { Field, Form } from '../kit/form.tsx'
import { usePages } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { Choice, Empty, Filters, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href, place, setQuery } from '../kit/router.ts'
import { Chip, type Tone } from '../kit/status.tsx'
import { type Bulk, type Column, Pager, Table } from '../kit/table.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { ImportList } from './suppressions/import.tsx'

const REASONS = [
  ['', 'Any reason'],
  ['hard_bounce', 'Hard bounce'],
  ['complaint', 'Complaint'],
  ['unsubscribe', 'Unsubscribe'],
  ['manual', 'Manual'],
] as const

/** Suppressed addresses with reason and source. */
export default function SuppressionsPage() {
  const [isAdding, setAdding] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const { email = '', q = '', reason = '', stream = '' } = place.value.query
  const pages = usePages('/v1/suppressions', {
    email: email || undefined,
    q: q || undefined,
    reason: reason || undefined,
    stream: stream || undefined,
  })
  const exportAll = () =>
    attempt(async () => {
      save('suppressions.csv', 'text/csv', await getText('/v1/suppressions/export', { reason, stream }))
    })
  const unsuppress = async ({ id, email, reason }: Json) => {
    const isSure = await confirm({
      name: `Remove the suppression of ${shownAddress(email)}?`,
      text: ADVICE[reason] ?? 'Postrider will send to this address again.',
      action: 'Remove suppression',
      isDangerous: reason !== 'manual',
    })
    if (
      isSure &&
      (await attempt(() => remove(`/v1/suppressions/${id}`), `Suppression of ${shownAddress(email)} removed`))
    )
      pages.reload()
  }
  const mayRemove = may('suppressions_delete')
  const bulk: Bulk<Json> = {
    nameOf: ({ email }) => shownAddress(email),
    actions: [{ name: 'Remove suppressions', isDangerous: true, run: (rows) => removeAll(rows, pages.reload) }],
  }
  const columns: Column<Json>[] = [
    {
      name: 'Address',
      width: '26%',
      phone: 'top-left',
      show: ({ email }) => <span class="strong">{shownAddress(email)}</span>,
      by: ({ email }) => email,
    },
    {
      name: 'Reason',
      width: '212px',
      phone: 'sub',
      show: (row) => (
        <span class="row">
          <Chip word={row.reason} tone={REASON_TONES[row.reason]} />
          <span class="muted ellipsis">{streamOf(row)}</span>
        </span>
      ),
    },
    {
      name: 'Source',
      phone: 'last',
      show: ({ message_id, reason }) =>
        message_id ? <a href={href(`/messages/${message_id}`)}>View message</a> : SOURCES[reason],
    },
    {
      name: 'Scope',
      width: '120px',
      isExtra: true,
      show: ({ domain_id }) => (domain_id === null ? 'All domains' : 'One domain'),
    },
    {
      name: 'Added',
      width: '100px',
      show: ({ created_at }) => <Time at={created_at} />,
      by: ({ created_at }) => created_at,
    },
    {
      name: '',
      width: '52px',
      phone: 'end',
      show: (row) => (
        <Menu name={`Actions of ${shownAddress(row.email)}`}>
          {!isErased(row.email) && (
            <MenuItem icon="send" href={href('/messages', { to: row.email })}>
              Messages to this address
            </MenuItem>
          )}
          {may('recipients_erase') && !isErased(row.email) && (
            <MenuItem icon="x" href={href('/erasures', { erase: row.email })}>
              Erase recipient
            </MenuItem>
          )}
          {mayRemove && (
            <MenuItem icon="trash" isDangerous onPress={() => unsuppress(row)}>
              Remove suppression
            </MenuItem>
          )}
        </Menu>
      ),
    },
  ]
  return (
    <>
      <Head
        name="Suppressions"
        about="Addresses that Postrider does not send to. Messages to them are accepted but not sent."
      >
        {may('recipients_erasures_list') && (
          <a class="button" href={href('/erasures')}>
            Erasures
          </a>
        )}
        <button type="button" onClick={exportAll}>
          Export
        </button>
        {may('suppressions_import') && (
          <button type="button" onClick={() => setImporting(true)}>
            Import
          </button>
        )}
        {may('suppressions_create') && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Add address
          </button>
        )}
      </Head>
      <Filters
        search={email || q}
        onSearch={(text) => setQuery({ email: '', q: text })}
        placeholder="Beginning of an address or domain"
      >
        <Choice name="Reason" value={reason} options={REASONS} onChange={(reason) => setQuery({ reason })} />
        <input
          type="text"
          aria-label="Stream"
          placeholder="Stream"
          value={stream}
          onChange={(event) => setQuery({ stream: event.currentTarget.value.trim() })}
        />
      </Filters>
      <Table
        name="Suppressions"
        columns={columns}
        loaded={pages}
        keyOf={({ id }) => id}
        {...(mayRemove ? { bulk } : {})}
        whenEmpty={
          email || q || reason || stream ? (
            <Empty name="No suppressions match" />
          ) : (
            <Empty name="No suppressions">
              <p>Postrider adds hard bounces, complaints and unsubscribes automatically.</p>
            </Empty>
          )
        }
      />
      <Pager pages={pages} />
      {isImporting && <ImportList onClose={() => setImporting(false)} onDone={pages.reload} />}
      {isAdding && (
        <Dialog name="Suppress an address" onClose={() => setAdding(false)}>
          <Form
            action="Suppress"
            onCancel={() => setAdding(false)}
            onSubmit={async ({ email, stream }) => {
              await post('/v1/suppressions', { email, ...(stream && { stream }) })
              setAdding(false)
              toast(`${email} suppressed`)
              pages.reload()
            }}
          >
            <Field name="email" label="Address">
              {(control) => <input {...control} required type="text" inputMode="email" autoComplete="off" />}
            </Field>
            <Field name="stream" label="Stream" hint="Only mail of this stream. Empty: every stream.">
              {(control) => <input {...control} type="text" autoComplete="off" />}
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** Streams that a suppression applies to (model/suppression.ts), in words. */
function streamOf({ stream, reason }: Json): string {
  if (stream === null || (reason === 'complaint' && stream === TRANSACTIONAL)) return ''
  return reason === 'complaint' ? `all but ${TRANSACTIONAL}` : stream
}

/** True for the hash that stands in place of an erased address. */
const isErased = (email: string) => /^[0-9a-f]{64}@erased\.invalid$/.test(email)
/** An address, or the beginning of the hash of an erased one. */
const shownAddress = (email: string) => (isErased(email) ? `Erased recipient ${email.slice(0, 8)}` : email)

/** Removes the selected suppressions after a question; resolves with whether it did. */
async function removeAll(rows: Json[], onDone: () => void): Promise<boolean> {
  const count = `${rows.length} ${rows.length === 1 ? 'suppression' : 'suppressions'}`
  const isSure = await confirm({
    name: `Remove ${count}?`,
    text: 'Postrider will send to these addresses again. Bounces and complaints harm your reputation.',
    action: `Remove ${count}`,
    isDangerous: true,
  })
  if (!isSure) return false
  const work = async () => {
    for (const { id } of rows) await remove(`/v1/suppressions/${id}`)
  }
  await attempt(work, `${count} removed`)
  onDone()
  return true
}

const REASON_TONES: Record<string, Tone> = { hard_bounce: 'bad', complaint: 'bad', unsubscribe: 'warn' }
const SOURCES: Record<string, string> = { manual: 'Added manually' }
const ADVICE: Record<string, string> = {
  hard_bounce:
    'The mail server reported that this mailbox does not exist. The next message will probably bounce too, which harms your reputation.',
  complaint: 'The recipient marked a message as spam. Send again only if they ask for it.',
  unsubscribe: 'The recipient unsubscribed. Send again only if they ask for it.',
}
