import { useState } from 'preact/hooks'
import { type Json, post } from '../kit/api.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Field, Form } from '../kit/form.tsx'
import { ago, when } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head } from '../kit/pieces.tsx'
import { go, href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'

/** What may stand in From, and whether DNS says so too. */
export default function DomainsPage() {
  const [isAdding, setAdding] = useState(false)
  const pages = usePages('/v1/domains', {})
  const add = (
    <button type="button" class="primary" onClick={() => setAdding(true)}>
      Add domain
    </button>
  )
  return (
    <>
      <Head
        name="Domains"
        about="Where your mail comes from. Live mail goes out once the DKIM records are seen in DNS."
      >
        {add}
      </Head>
      <Table
        name="Domains"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/domains/${id}`)}
        whenEmpty={
          <Empty name="No domain yet">
            <p>Add the domain that your mail is to come from. You get a handful of DNS records to publish.</p>
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
  { name: 'Name', show: ({ id, name }) => <a href={href(`/domains/${id}`)}>{name}</a>, by: ({ name }) => name },
  {
    name: 'Status',
    show: ({ status, proof_missing_since }) => (
      <>
        <Chip word={status} tone={proof_missing_since === null ? undefined : 'warn'} />
        {proof_missing_since !== null && <span class="muted"> without proof since {when(proof_missing_since)}</span>}
      </>
    ),
    by: ({ status }) => status,
  },
  { name: 'Records', show: ({ dns_records }) => missingWords(dns_records) },
  { name: 'Checked', show: ({ last_checked_at }) => (last_checked_at ? ago(last_checked_at) : 'not yet') },
  { name: 'Added', show: ({ created_at }) => when(created_at), by: ({ created_at }) => created_at },
]

/** How many of the records that must be there are. */
function missingWords(records: Json[]): string {
  const required = records.filter((record) => record.required)
  const valid = required.filter(({ status }) => status === 'valid').length
  return valid === required.length ? 'all published' : `${valid} of ${required.length} published`
}

function AddDomain({ onClose }: { onClose: () => void }) {
  return (
    <Dialog name="Add a domain" onClose={onClose}>
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
          hint="A subdomain, like mail.example.com, keeps its good name apart from that of your other mail."
        >
          {(control) => (
            <input {...control} required autoComplete="off" spellcheck={false} placeholder="mail.example.com" />
          )}
        </Field>
      </Form>
    </Dialog>
  )
}
