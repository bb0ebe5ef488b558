import type { Json } from '../kit/api.ts'
import { domainState } from '../kit/domain-state.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head, Time } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { href, place, setQuery } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { AddDomain } from './domains/add.tsx'

/** Sending domains: what each may do, and what is left to fix. */
export default function DomainsPage() {
  const pages = usePages('/v1/domains', {})
  const add = may('domains_create') && (
    <button type="button" class="primary" onClick={() => setQuery({ add: 'yes' })}>
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
      {place.value.query.add !== undefined && may('domains_create') && (
        <AddDomain onClose={() => setQuery({ add: undefined })} />
      )}
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
    name: 'State',
    width: '150px',
    phone: 'last',
    show: (domain) => {
      const { word, tone } = domainState(domain)
      return <Chip word={word} tone={tone} />
    },
    by: (domain) => domainState(domain).word,
  },
  { name: 'To do', phone: 'sub', show: (domain) => <span class="muted">{domainState(domain).reason || '–'}</span> },
  { name: 'Checked', width: '120px', phone: 'end', show: ({ last_checked_at }) => <Time at={last_checked_at} /> },
  {
    name: 'Added',
    width: '120px',
    isExtra: true,
    show: ({ created_at }) => <Time at={created_at} />,
    by: ({ created_at }) => created_at,
  },
]
