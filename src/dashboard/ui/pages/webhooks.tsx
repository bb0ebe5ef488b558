import { useState } from 'preact/hooks'
import type { Json } from '../kit/api.ts'
import { ago } from '../kit/format.ts'
import { usePages } from '../kit/load.ts'
import { Empty, Head } from '../kit/pieces.tsx'
import { href } from '../kit/router.ts'
import { Chip } from '../kit/status.tsx'
import { type Column, Pager, Table } from '../kit/table.tsx'
import { EVENT_TYPES } from './webhooks/event-types.ts'
import { CreateWebhook } from './webhooks/forms.tsx'
import { Secret } from './webhooks/secret.tsx'

/** Who is told what becomes of mail, and whether they listen. */
export default function WebhooksPage() {
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<Json>()
  const pages = usePages('/v1/webhooks', {})
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      Create webhook
    </button>
  )
  return (
    <>
      <Head name="Webhooks" about="Addresses of your programs that are told, signed, what becomes of each mail.">
        {create}
      </Head>
      <Table
        name="Webhooks"
        columns={COLUMNS}
        loaded={pages}
        keyOf={({ id }) => id}
        link={({ id }) => href(`/webhooks/${id}`)}
        whenEmpty={
          <Empty name="No webhook yet">
            <p>Without one, programs have to ask what became of a mail.</p>
            {create}
          </Empty>
        }
      />
      <Pager pages={pages} />
      {isCreating && (
        <CreateWebhook
          onClose={() => setCreating(false)}
          onMade={(webhook) => {
            setCreating(false)
            setMade(webhook)
            pages.reload()
          }}
        />
      )}
      {made && <Secret of={made} onClose={() => setMade(undefined)} />}
    </>
  )
}

const COLUMNS: Column<Json>[] = [
  { name: 'URL', show: ({ id, url }) => <a href={href(`/webhooks/${id}`)}>{url}</a>, by: ({ url }) => url },
  { name: 'Status', show: ({ status }) => <Chip word={status} />, by: ({ status }) => status },
  {
    name: 'Events',
    show: ({ events }) =>
      events.length === EVENT_TYPES.length ? 'all' : events.map((type: string) => type.split('.')[1]).join(', '),
  },
  { name: 'Last success', show: ({ last_success_at }) => (last_success_at ? ago(last_success_at) : 'none yet') },
  {
    name: 'Failures',
    show: ({ consecutive_failures, disabled_reason }) =>
      disabled_reason ?? (consecutive_failures === 0 ? 'none' : `${consecutive_failures} in a row`),
  },
]
