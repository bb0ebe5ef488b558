import { get, type Json, type Paged } from '../../kit/api.ts'
import { useLoad } from '../../kit/load.ts'
import { may } from '../../kit/rights.ts'
import { href } from '../../kit/router.ts'

/** Whether the mail of each domain in the routes arrives here, as its MX record says. Nothing without the right to read
 *  domains. */
export function MxLines({ routes }: { routes: readonly Json[] }) {
  const mayRead = may('domains_list')
  const { data } = useLoad(
    async (signal) => (mayRead ? (await get<Paged>('/v1/domains', { limit: 100 }, signal)).data : []),
    [],
  )
  const isForAll = routes.some(({ match }) => match.type === 'catch_all')
  const named = new Set(routes.map(({ match }) => match.value?.split('@').at(-1)))
  const shown = (data ?? []).filter(({ name }) => isForAll || named.has(name))
  if (shown.length === 0) return null
  return (
    <ul class="plain-list small" aria-label="MX records">
      {shown.map((domain) => (
        <MxLine key={domain.id} domain={domain} />
      ))}
    </ul>
  )
}

function MxLine({ domain: { id, name, dns_records } }: { domain: Json }) {
  const isHere = dns_records.some(({ purpose, status }: Json) => purpose === 'mx' && status === 'valid')
  if (isHere) {
    return (
      <li>
        MX of <bdi>{name}</bdi> points here <span aria-hidden="true">✓</span>
      </li>
    )
  }
  return (
    <li class="warn-text">
      MX of <bdi>{name}</bdi> does not point here, so its mail goes elsewhere.{' '}
      <a href={href(`/domains/${id}`)}>DNS records</a>
    </li>
  )
}
