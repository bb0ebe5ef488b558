import { Head, Tabs } from '../kit/pieces.tsx'
import { ask, place } from '../kit/router.ts'
import { Mails } from './inbound/mails.tsx'
import { Routes } from './inbound/routes.tsx'

const TABS = [
  ['mail', 'Mail'],
  ['routes', 'Routes'],
] as const
type Tab = (typeof TABS)[number][0]

/** Mail that comes in for the organization's domains, and what is done with it. */
export default function InboundPage() {
  const tab = TABS.find(([id]) => id === place.value.query.tab)?.[0] ?? 'mail'
  return (
    <>
      <Head
        name="Inbound"
        about="Routes post incoming mail to a webhook, forward it or store it. Postrider rejects mail that matches no route."
      />
      <Tabs<Tab> name="Inbound" tabs={TABS} chosen={tab} onChoose={(tab) => ask({ tab })}>
        {tab === 'mail' ? <Mails /> : <Routes />}
      </Tabs>
    </>
  )
}
