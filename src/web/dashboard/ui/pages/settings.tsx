import { Head, Tabs } from '../kit/pieces.tsx'
import { may } from '../kit/rights.ts'
import { place, setQuery } from '../kit/router.ts'
import { AuditLog } from './settings/audit-log.tsx'
import { BlockedLinks } from './settings/blocked-links.tsx'
import { Configuration } from './settings/configuration.tsx'
import { General } from './settings/general.tsx'
import { PlanAndUsage } from './settings/plan.tsx'
import { Sessions } from './settings/sessions.tsx'
import { Streams } from './settings/streams.tsx'
import { SETTINGS_TABS, type SettingsTab } from './settings/tabs.ts'
import { InviteButton, Members } from './users/members.tsx'

/** The organization with its plan, members and audit log; for operators also the server. */
export default function SettingsPage() {
  const tabs = SETTINGS_TABS.filter(([, , operation]) => may(operation))
  const tab = tabs.find(([id]) => id === place.value.query.tab)?.[0] ?? 'general'
  return (
    <>
      <Head name="Settings">{tab === 'members' && <InviteButton isForAll={false} />}</Head>
      <Tabs<SettingsTab>
        name="Settings"
        tabs={tabs.map(([id, name]) => [id, name] as const)}
        chosen={tab}
        onChoose={(tab) => setQuery({ tab })}
      >
        {tab === 'general' && <General />}
        {tab === 'plan' && <PlanAndUsage />}
        {tab === 'members' && <Members isForAll={false} />}
        {tab === 'audit-log' && <AuditLog />}
        {tab === 'configuration' && <Configuration />}
        {tab === 'streams' && <Streams />}
        {tab === 'sessions' && <Sessions />}
        {tab === 'blocked-links' && <BlockedLinks />}
      </Tabs>
    </>
  )
}
