import { useState } from 'preact/hooks'
import { EVENT_TYPES } from '../../../../model/event-types.ts'
import type { Json } from '../kit/api.ts'
import { number } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head, Time } from '../kit/pieces.tsx'
import { amendQuery, href, place } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { CreateWebhook } from './webhooks/forms.tsx'
import { Secret } from './webhooks/secret.tsx'

/** Webhooks with their subscriptions and the status of their deliveries. */
export default function WebhooksPage() {
  const isCreating = place.value.query.create !== undefined
  const setCreating = (is: boolean) => amendQuery({ create: is ? 'yes' : '' })
  const [created, setCreated] = useState<Json>()
  const pages = usePages('/v1/webhooks', {})
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      Create webhook
    </button>
  )
  return (
    <>
      <Head name="Webhooks" about="Endpoints that receive signed events.">
        {create}
      </Head>
      <Table
        name="Webhooks"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/webhooks/${id}`)}
        whenEmpty={
          <Empty name="No webhooks yet">
            <p>Without a webhook, your app has to poll the API for the status of messages.</p>
            {create}
          </Empty>
        }
      />
      <Pager pages={pages} />
      {isCreating && (
        <CreateWebhook
          onClose={() => setCreating(false)}
          onSaved={(webhook) => {
            setCreating(false)
            setCreated(webhook)
            pages.reload()
          }}
        />
      )}
      {created && <Secret of={created} onClose={() => setCreated(undefined)} />}
    </>
  )
}

const COLUMNS: Column<Json>[] = [
  {
    name: 'URL',
    width: '40%',
    phone: 'top-left',
    show: ({ id, url }) => <a href={href(`/webhooks/${id}`)}>{url}</a>,
    by: ({ url }) => url,
  },
  {
    name: 'Status',
    width: '110px',
    phone: 'end',
    show: ({ status }) => <Chip word={status} />,
    by: ({ status }) => status,
  },
  {
    name: 'Events',
    phone: 'sub',
    show: ({ events }) =>
      events.length === EVENT_TYPES.length ? 'All' : events.map((type: string) => type.split('.')[1]).join(', '),
  },
  { name: 'Last success', width: '120px', phone: 'last', show: ({ last_success_at }) => <Time at={last_success_at} /> },
  {
    name: 'Failures',
    width: '120px',
    isExtra: true,
    show: ({ consecutive_failures: count }) => (count === 0 ? 'None' : `${number(count)} in a row`),
  },
]
