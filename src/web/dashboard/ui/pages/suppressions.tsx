import { useState } from 'preact/hooks'
import { TRANSACTIONAL } from '../../../../model/message.ts'
import { get, getText, type Json, post, remove, save, selected } from '../kit/api.ts'
import { confirm, Dialog } from '../kit/dialog.tsx'
import { Field, Form } from '../kit/form.tsx'
import { number } from '../kit/format.ts'
import { useLoad, usePages } from '../kit/load.ts'
import { Menu, MenuItem } from '../kit/menu.tsx'
import { Choice, Empty, Filters, Head, Time, useShown } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href, place, setQuery, setSearch } from '../kit/router.ts'
import { Chip, type Tone } from '../kit/status.tsx'
import { type Bulk, type Column, Pager, Table } from '../kit/table.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { ImportList } from './suppressions/import.tsx'
import { isErased, removeSuppression, shownAddress } from './suppressions/remove.tsx'

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
  const pages = usePages('/v1/suppressions', { email, q, reason, stream })
  const streamField = useShown(stream)
  const usage = useLoad((signal) => get('/v1/usage', {}, signal), [pages.data?.length])
  const exportAll = () =>
    attempt(async () => {
      save('suppressions.csv', 'text/csv', await getText('/v1/suppressions/export', { reason, stream }))
    })
  const mayRemove = may('suppressions_delete')
  const bulk: Bulk<Json> = {
    nameOf: ({ email }) => shownAddress(email),
    actions: [{ name: 'Remove suppressions', isDangerous: true, run: (rows) => removeAll(rows, pages.reload) }],
  }
  const columns: Column<Json>[] = [
    {
      name: 'Address',
      width: '40%',
      phone: 'top-left',
      show: ({ email }) => <bdi class="strong">{shownAddress(email)}</bdi>,
      by: ({ email }) => email,
    },
    {
      name: 'Reason',
      phone: 'sub',
      show: (row) => (
        <span class="row status">
          <Reason of={row} />
          <span class="muted ellipsis">{streamOf(row)}</span>
        </span>
      ),
    },
    {
      name: 'Scope',
      width: '120px',
      isExtra: true,
      show: ({ domain_id }) => (domain_id === null ? 'All domains' : 'One domain'),
    },
    {
      name: 'Added',
      width: '124px',
      phone: 'last',
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
            <MenuItem icon="trash" isDangerous onPress={() => removeSuppression(row, pages.reload)}>
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
        about={`${countOf(usage.data)} that Postrider does not send to. Messages to them are accepted but not sent.`}
      >
        <Menu name="More actions" className="icon-only">
          <MenuItem icon="download" onPress={exportAll}>
            Export
          </MenuItem>
          {may('recipients_erasures_list') && (
            <MenuItem icon="trash" href={href('/erasures')}>
              Erasures
            </MenuItem>
          )}
        </Menu>
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
        onSearch={(text) => setSearch({ email: '', q: text })}
        placeholder="Search addresses"
      >
        <Choice name="Reason" value={reason} options={REASONS} onChange={(reason) => setQuery({ reason })} />
        <input
          type="text"
          aria-label="Stream"
          placeholder="Stream"
          ref={streamField}
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

/** `81 addresses`, of any reason; without the number until the usage is loaded. */
function countOf(loaded: Json): string {
  const count: number | undefined = loaded?.usage.suppressions
  if (!count) return 'Addresses'
  return count === 1 ? '1 address' : `${number(count)} addresses`
}

/** The reason, which leads to the message that was the cause. */
function Reason({ of: { reason, message_id, email } }: { of: Json }) {
  const chip = <Chip word={reason} tone={REASON_TONES[reason]} />
  if (!message_id) return chip
  return (
    <a
      class="chip-link"
      href={href(`/messages/${message_id}`)}
      title="View the message"
      aria-label={`${reasonWord(reason)}: message to ${shownAddress(email)}`}
    >
      {chip}
    </a>
  )
}

const reasonWord = (reason: string) => REASONS.find(([id]) => id === reason)?.[1] ?? reason

/** Streams that a suppression applies to (model/suppression.ts), in words. */
function streamOf({ stream, reason }: Json): string {
  if (stream === null || (reason === 'complaint' && stream === TRANSACTIONAL)) return ''
  return reason === 'complaint' ? `all but ${TRANSACTIONAL}` : stream
}

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
  const headers = selected()
  const work = async () => {
    for (const { id } of rows) await remove(`/v1/suppressions/${id}`, { headers })
  }
  await attempt(work, `${count} removed`)
  onDone()
  return true
}

const REASON_TONES: Record<string, Tone> = { hard_bounce: 'bad', complaint: 'bad', unsubscribe: 'warn' }
