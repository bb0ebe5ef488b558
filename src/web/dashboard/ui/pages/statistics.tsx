import { type Json, save } from '../kit/api.ts'
import { csvText } from '../kit/csv.ts'
import { ErrorNotice, Head, Segments } from '../kit/pieces.tsx'
import { place, setQuery } from '../kit/router.ts'
import { mode, organization } from '../kit/state.ts'
import { ActiveFilters, DomainChoice, RangeChoice, useDomains } from './statistics/filters.tsx'
import { Groups, nameOf, rowsOf } from './statistics/groups.tsx'
import { type Compared, filtersOf, groupingsWith, useStatistics } from './statistics/load.ts'
import { dayOf, rangeOf } from './statistics/range.ts'
import { METRICS, Tiles } from './statistics/tiles.tsx'
import { Volume } from './statistics/volume.tsx'

/** Volume and rates of a range, over time and by group, against the period before. The URL has every choice. */
export default function Statistics() {
  const { query } = place.value
  const range = rangeOf(query)
  const filters = filtersOf(query)
  const groupings = groupingsWith(filters, range)
  const by = groupings.find(([id]) => id === query.by)?.[0] ?? groupings[0]?.[0] ?? 'domain'
  const isCompared = query.compare !== 'none'
  const { data, error, reload } = useStatistics(range, filters, { by, isCompared })
  const domains = useDomains()
  // All at once, so that a part that comes later does not move the others.
  const isReady = data !== undefined && (domains.data ?? domains.error) !== undefined
  const of = organization.value?.name ?? ''
  return (
    <div class="stack">
      <Head name="Statistics" about={`${mode.value === 'live' ? 'Live' : 'Test'} messages of ${of}, ${range.label}`}>
        <DomainChoice domains={isReady ? (domains.data?.data ?? []) : []} chosen={filters.domain_id} />
        <RangeChoice range={range} hasCustom />
      </Head>
      <ActiveFilters filters={filters} />
      <ErrorNotice error={error} onRetry={reload} />
      {!isReady ? (
        error === undefined && <div class="card skeleton-page" role="progressbar" aria-label="Loading statistics" />
      ) : (
        <>
          <section class="card stack" aria-label="Totals">
            <Tiles stats={data} chosen={query.show} />
            <Volume stats={data} chosen={query.show} />
            <label class="row small">
              <input
                type="checkbox"
                checked={isCompared}
                onChange={({ currentTarget }) => setQuery({ compare: currentTarget.checked ? undefined : 'none' })}
              />
              Compare with the period before
            </label>
          </section>
          <section class="card stack" aria-labelledby="groups">
            <div class="row apart">
              <h2 id="groups">Breakdown</h2>
              <span class="row">
                <Segments name="Group by" options={groupings} chosen={by} onChoose={(id) => setQuery({ by: id })} />
                <button type="button" onClick={() => download(data)}>
                  Download CSV
                </button>
              </span>
            </div>
            <Groups stats={data} metrics={METRICS.map(({ id }) => id)} />
          </section>
        </>
      )}
    </div>
  )
}

/** Lets the browser store the groups as a file. */
function download(data: Compared): void {
  const days = `${dayOf(data.range.from)}-to-${dayOf(data.range.before - 1)}`
  save(`statistics-by-${data.by}-${days}.csv`, 'text/csv', csvOf(data))
}

const FIELDS = [
  'accepted',
  'delivered',
  'deferred',
  'hard_bounced',
  'soft_bounced',
  'complained',
  'unique_opened',
  'unique_clicked',
  'unsubscribed',
  'suppressed',
  'replied',
] as const

/** Groups → CSV with the counts of the range, and those of the period before where there is one. */
function csvOf({ by, now, before }: Compared): string {
  const earlier = new Map<string | undefined, Json>(before ? rowsOf(before).map((row) => [row.key, row]) : [])
  const head = [by, ...FIELDS, ...(before ? FIELDS.map((field) => `${field}_before`) : [])]
  const rows = rowsOf(now).map((row) => {
    const counts = FIELDS.map((field) => row[field])
    const countsBefore = before ? FIELDS.map((field) => earlier.get(row.key)?.[field] ?? 0) : []
    return [nameOf(by, row), ...counts, ...countsBefore]
  })
  return csvText([head, ...rows])
}
