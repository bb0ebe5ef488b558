import { Head, Tabs } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { place, setQuery } from '../kit/router.ts'
import { InboundMessages } from './inbound/messages.tsx'
import { Routes } from './inbound/routes.tsx'

const TABS = [
  ['messages', 'Messages'],
  ['routes', 'Routes'],
] as const
type Tab = (typeof TABS)[number][0]

/** Inbound messages of the organization, and the routes that handle them. */
export default function InboundPage() {
  const tabs = may('inbound_routes_list') ? TABS : TABS.slice(0, 1)
  const tab = tabs.find(([id]) => id === place.value.query.tab)?.[0] ?? 'messages'
  return (
    <>
      <Head
        name="Inbound"
        about="Routes post inbound mail to a webhook, forward it or store it. Postrider rejects mail that matches no route."
      />
      <Tabs<Tab> name="Inbound" tabs={tabs} chosen={tab} onChoose={(tab) => setQuery({ tab })}>
        {tab === 'messages' ? <InboundMessages /> : <Routes />}
      </Tabs>
    </>
  )
}
