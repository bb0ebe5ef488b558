import { get, type Paged } from '../../kit/api.ts'
import { useLoad } from '../../kit/load.ts'
import { Choice, FilterChips, Segments, useShown } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { place, setQuery } from '../../kit/router.ts'
import type { StatsFilters } from './load.ts'
import { dayOf, RANGES, type Range } from './range.ts'

/** Ranges to choose from; `custom` adds two dates. */
export function RangeChoice({ range, hasCustom = false }: { range: Range; hasCustom?: boolean }) {
  const choose = (id: string) => {
    const dates = id === 'custom' ? { from: dayOf(range.from), to: dayOf(range.before - 1) } : {}
    setQuery({ range: id, from: undefined, to: undefined, ...dates })
  }
  const options = [...RANGES, ...(hasCustom ? [['custom', 'Custom'] as const] : [])]
  return (
    <>
      <Segments name="Range" options={options} chosen={range.id} onChoose={choose} />
      {range.id === 'custom' && (
        <span class="row">
          <DateField name="From" value={range.from} onChange={(from) => setQuery({ from })} />
          <DateField name="To" value={range.before - 1} onChange={(to) => setQuery({ to })} />
        </span>
      )}
    </>
  )
}

function DateField({ name, value, onChange }: { name: string; value: number; onChange: (day: string) => void }) {
  const { to = '', from = '' } = place.value.query
  return (
    <input
      type="date"
      aria-label={name}
      ref={useShown(dayOf(value))}
      min={name === 'To' ? from : undefined}
      max={name === 'From' ? to : dayOf(Date.now())}
      onChange={({ currentTarget }) => currentTarget.value !== '' && onChange(currentTarget.value)}
    />
  )
}

/** A select for the domain; nothing with fewer than two. */
export function DomainChoice({
  domains,
  chosen,
}: {
  domains: readonly { id: string; name: string }[]
  chosen: string | undefined
}) {
  if (domains.length < 2) return null
  const options = [['', 'All domains'], ...domains.map(({ id, name }) => [id, name] as const)] as const
  return (
    <Choice
      name="Domain"
      value={chosen ?? ''}
      options={options}
      onChange={(id) => setQuery({ domain_id: id === '' ? undefined : id })}
    />
  )
}

/** Names of the domains; none for users who may not list them. */
export const useDomains = () =>
  useLoad(
    async (signal) => (may('domains_list') ? get<Paged>('/v1/domains', { limit: 100 }, signal) : { data: [] }),
    [],
    { everyMs: 20_000 },
  )

/** The filters that a table of groups has set. */
export function ActiveFilters({ filters: { tag, stream } }: { filters: StatsFilters }) {
  const active = [
    ...(tag === undefined ? [] : [['tag', `Tag: ${tag}`] as const]),
    ...(stream === undefined ? [] : [['stream', `Stream: ${stream}`] as const]),
  ]
  return (
    <FilterChips filters={active} onRemove={(ids) => setQuery(Object.fromEntries(ids.map((id) => [id, undefined])))} />
  )
}
