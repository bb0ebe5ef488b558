import { useState } from 'preact/hooks'
import { type Json, post } from '../kit/api.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Field, Form } from '../kit/form.tsx'
import { when } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { go, href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'

/** Sending domains with the status of their DNS records. */
export default function DomainsPage() {
  const [isAdding, setAdding] = useState(false)
  const pages = usePages('/v1/domains', {})
  const add = may('domains_create') && (
    <button type="button" class="primary" onClick={() => setAdding(true)}>
      Add domain
    </button>
  )
  return (
    <>
      <Head name="Domains" about="Domains you send from. Live messages require the DKIM records in DNS.">
        {add}
      </Head>
      <Table
        name="Domains"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/domains/${id}`)}
        whenEmpty={
          <Empty name="No domains yet">
            <p>Add the domain you send from, then publish the DNS records that Postrider lists for it.</p>
            {add}
          </Empty>
        }
      />
      <Pager pages={pages} />
      {isAdding && <AddDomain onClose={() => setAdding(false)} />}
    </>
  )
}

const COLUMNS: Column<Json>[] = [
  {
    name: 'Name',
    width: '34%',
    phone: 'top-left',
    show: ({ id, name }) => <a href={href(`/domains/${id}`)}>{name}</a>,
    by: ({ name }) => name,
  },
  {
    name: 'Status',
    phone: 'last',
    show: ({ status, proof_missing_since }) => (
      <>
        <Chip word={status} tone={proof_missing_since === null ? undefined : 'warn'} />
        {proof_missing_since !== null && <span class="muted"> Proof missing since {when(proof_missing_since)}</span>}
      </>
    ),
    by: ({ status }) => status,
  },
  { name: 'Records', width: '20%', phone: 'sub', show: ({ dns_records }) => publishedRecords(dns_records) },
  { name: 'Checked', width: '120px', phone: 'end', show: ({ last_checked_at }) => <Time at={last_checked_at} /> },
  {
    name: 'Added',
    width: '120px',
    show: ({ created_at }) => <Time at={created_at} />,
    by: ({ created_at }) => created_at,
  },
]

/** `2 of 3 published`, counting required records only. */
function publishedRecords(records: Json[]): string {
  const required = records.filter((record) => record.required)
  const valid = required.filter(({ status }) => status === 'valid').length
  return valid === required.length ? 'All published' : `${valid} of ${required.length} published`
}

function AddDomain({ onClose }: { onClose: () => void }) {
  return (
    <Dialog name="Add domain" onClose={onClose}>
      <Form
        action="Add domain"
        onCancel={onClose}
        onSubmit={async ({ name }) => {
          const { id } = await post('/v1/domains', { name })
          go(`/domains/${id}`)
        }}
      >
        <Field
          name="name"
          label="Domain"
          hint="A subdomain such as mail.example.com keeps its reputation separate from your other mail."
        >
          {(control) => (
            <input {...control} required autoComplete="off" spellcheck={false} placeholder="mail.example.com" />
          )}
        </Field>
      </Form>
    </Dialog>
  )
}
