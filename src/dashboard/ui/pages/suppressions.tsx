import { useState } from 'preact/hooks'
import { getText, type Json, post, remove, save } from '../kit/api.ts'
import { confirm, Dialog } from '../kit/dialog.tsx'
import { Field, Form } from '../kit/form.tsx'
import { when } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Choice, Empty, Filters, Head } from '../kit/pieces.tsx'
import { ask, href, place } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { attempt, toast } from '../kit/toast.tsx'
import { ImportList } from './suppressions/import.tsx'

const REASONS = [
  ['', 'Any reason'],
  ['hard_bounce', 'Hard bounce'],
  ['complaint', 'Complaint'],
  ['unsubscribe', 'Unsubscribe'],
  ['manual', 'By hand'],
] as const

/** Addresses that get no more mail, why, and the message that led to it. */
export default function SuppressionsPage() {
  const [isAdding, setAdding] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const { email = '', reason = '' } = place.value.query
  const pages = usePages('/v1/suppressions', { email: email || undefined, reason: reason || undefined })
  const exportAll = () =>
    attempt(async () => save('suppressions.csv', 'text/csv', await getText('/v1/suppressions/export', { reason })))
  const lift = async ({ id, email, reason }: Json) => {
    const isSure = await confirm({
      name: `Mail ${email} again?`,
      text: ADVICE[reason] ?? 'It gets mail again from now on.',
      action: 'Mail it again',
      isDangerous: reason !== 'manual',
    })
    if (isSure && (await attempt(() => remove(`/v1/suppressions/${id}`), `${email} gets mail again`))) pages.reload()
  }
  const columns: Column<Json>[] = [
    { name: 'Address', show: ({ email }) => <strong class="break">{email}</strong>, by: ({ email }) => email },
    { name: 'Reason', show: ({ reason }) => <Chip word={reason} tone={reason === 'complaint' ? 'bad' : 'warn'} /> },
    {
      name: 'Evidence',
      show: ({ message_id, reason }) =>
        message_id ? <a href={href(`/messages/${message_id}`)}>the message</a> : EVIDENCE[reason],
    },
    { name: 'For', show: ({ domain_id }) => (domain_id === null ? 'all domains' : 'one domain') },
    { name: 'Since', show: ({ created_at }) => when(created_at), by: ({ created_at }) => created_at },
    {
      name: '',
      isWhole: true,
      show: (row) => (
        <button type="button" class="tiny" onClick={() => lift(row)}>
          Remove<span class="hidden"> {row.email}</span>
        </button>
      ),
    },
  ]
  return (
    <>
      <Head name="Suppressions" about="Addresses that get no more mail. Messages to them are accepted and not sent.">
        <button type="button" onClick={exportAll}>
          Export
        </button>
        <button type="button" onClick={() => setImporting(true)}>
          Import
        </button>
        <button type="button" class="primary" onClick={() => setAdding(true)}>
          Add address
        </button>
      </Head>
      <Filters search={email} onSearch={(text) => ask({ email: text })} placeholder="Whole address">
        <Choice name="Reason" value={reason} options={REASONS} onChange={(reason) => ask({ reason })} />
      </Filters>
      <Table
        name="Suppressions"
        columns={columns}
        loaded={pages}
        keyOf={({ id }) => id}
        whenEmpty={
          email || reason ? (
            <Empty name="None like that" />
          ) : (
            <Empty name="Nobody is suppressed">
              <p>Hard bounces, complaints and unsubscriptions come here by themselves.</p>
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
            onSubmit={async ({ email }) => {
              await post('/v1/suppressions', { email })
              setAdding(false)
              toast(`${email} gets no more mail`)
              pages.reload()
            }}
          >
            <Field name="email" label="Address">
              {(control) => <input {...control} required type="text" inputMode="email" autoComplete="off" />}
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}

const EVIDENCE: Record<string, string> = { manual: 'added by hand' }
const ADVICE: Record<string, string> = {
  hard_bounce:
    'Its server said that there is no such mailbox. Mail to it will most likely bounce again, which costs good name.',
  complaint: 'Somebody there marked your mail as spam. Mail them again only if they ask for it.',
  unsubscribe: 'They asked for no more mail. Mail them again only if they ask for it.',
}
