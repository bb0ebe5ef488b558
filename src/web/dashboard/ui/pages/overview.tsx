import { number } from '../kit/format.ts'
import { ErrorNotice, Head, Segments } from '../kit/pieces.tsx'
import { href, place, setQuery } from '../kit/router.ts'
import { mode, organization } from '../kit/state.ts'
import { GetStarted, useSteps } from './get-started.tsx'
import { problemsOf } from './health/problems.ts'
import { useAlerts, useChecks } from './health-alerts.tsx'
import { AlertStrip, NeedsYou, useNeeds, type Waiting } from './overview/needs.tsx'
import { Verdict } from './overview/verdict.tsx'
import { UsageNotice, useUsage } from './settings/plan.tsx'
import { ActiveFilters, DomainChoice, RangeChoice, useDomains } from './statistics/filters.tsx'
import { Groups } from './statistics/groups.tsx'
import { filtersOf, groupingsWith, useStatistics } from './statistics/load.ts'
import { rangeOf } from './statistics/range.ts'
import { Tiles, TileText } from './statistics/tiles.tsx'
import { Volume } from './statistics/volume.tsx'

/** Rows of a breakdown; the page of statistics has all. */
const MOST_ROWS = 6

/** Whether mail is arriving, in a sentence, in numbers and over time, by provider and by what was sent; then what needs
 *  somebody. Every number is of the range and mode that the page shows, and comes from `GET /v1/stats`. */
export default function Overview() {
  const { query } = place.value
  const range = rangeOf(query)
  const filters = filtersOf(query)
  const groupings = groupingsWith(filters, range)
  const hasProviders = groupings.some(([id]) => id === 'provider')
  const others = groupings.filter(([id]) => id !== 'provider')
  const by = others.find(([id]) => id === query.by)?.[0] ?? 'domain'
  const providers = useStatistics(range, filters, { by: hasProviders ? 'provider' : 'domain' })
  const groups = useStatistics(range, filters, { by })
  const domains = useDomains()
  const needs = useNeeds()
  const alerts = useAlerts()
  const checks = useChecks()
  const steps = useSteps()
  const usage = useUsage()
  // All at once, so that a part that comes later does not move the others.
  const isReady = [providers, groups, domains, needs, steps, alerts, checks, usage].every(
    ({ data, error }) => data !== undefined || error !== undefined,
  )
  if (organization.value === null) return <NoOrganizations />
  const failed = [providers, groups, needs, alerts, checks].find(({ error }) => error !== undefined)
  const stats = providers.data
  // Before the first message, rates and charts of zeros say nothing.
  const isNew = steps.data?.isComplete === false && stats?.now.totals.accepted === 0
  return (
    <div class="stack">
      <Head name="Overview" about={`${mode.value === 'live' ? 'Live' : 'Test'} messages of ${organization.value.name}`}>
        <DomainChoice domains={isReady ? (domains.data?.data ?? []) : []} chosen={filters.domain_id} />
        <RangeChoice range={range} />
      </Head>
      {isReady ? (
        <>
          <GetStarted steps={steps.data} />
          <AlertStrip of={problemsOf(checks.data?.checks ?? [], alerts.data?.data ?? [])} />
          <UsageNotice of={usage.data} />
          <ActiveFilters filters={filters} />
          <ErrorNotice error={failed?.error} onRetry={failed?.reload} />
          {!isNew && stats && (
            <section class="card stack" aria-label="Totals">
              <Verdict totals={stats.now.totals} range={stats.range} needs={needs.data?.needs.length ?? 0} />
              <Tiles stats={stats} chosen={query.show}>
                <WaitingTile of={needs.data?.waiting} />
              </Tiles>
              <Volume stats={stats} chosen={query.show} />
            </section>
          )}
          {!isNew && (
            <div class="columns breakdowns">
              {stats?.by === 'provider' && (
                <section class="card stack" aria-labelledby="providers">
                  <div class="row apart">
                    <h2 id="providers">By provider</h2>
                    <a href={href('/statistics', { ...query, by: 'provider' })}>All</a>
                  </div>
                  <Groups stats={stats} metrics={COLUMNS} most={MOST_ROWS} />
                </section>
              )}
              {groups.data && (
                <section class="card stack" aria-labelledby="groups">
                  <div class="row apart">
                    <h2 id="groups" class="hidden">
                      Breakdown
                    </h2>
                    <Segments name="Group by" options={others} chosen={by} onChoose={(id) => setQuery({ by: id })} />
                    <a href={href('/statistics', { ...query, by })}>All</a>
                  </div>
                  <Groups stats={groups.data} metrics={COLUMNS} most={MOST_ROWS} />
                </section>
              )}
            </div>
          )}
          <NeedsYou of={needs.data?.needs ?? []} />
        </>
      ) : (
        <div class="card skeleton-page" role="progressbar" aria-label="Loading overview" />
      )}
    </div>
  )
}

const COLUMNS = ['sent', 'delivered', 'bounced']

/** Mail that waits now, whatever the range; a link to its list. */
function WaitingTile({ of: waiting }: { of: Waiting | undefined }) {
  if (waiting === undefined) return null
  return (
    <a class="tile" href={href('/messages', { status: 'deferred' })}>
      <TileText name="Waiting now" value={`${number(waiting.recipients)}${waiting.hasMore ? '+' : ''}`}>
        <span>of all mail</span>
      </TileText>
    </a>
  )
}

function NoOrganizations() {
  return (
    <div class="stack">
      <Head name="Overview" />
      <div class="card stack">
        <h2>No organizations yet</h2>
        <p class="muted">An organization owns domains, keys and messages. Create one on the server:</p>
        <pre>postrider init --domain example.com</pre>
      </div>
    </div>
  )
}
