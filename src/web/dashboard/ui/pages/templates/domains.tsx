import { useState } from 'preact/hooks'
import { get, type Json, type Paged } from '../../kit/api.ts'
import { useLoad } from '../../kit/load.ts'
import { Choice } from '../../kit/pieces.tsx'

/** The organization's domains. */
export interface Domains {
  all: Json[]
  /** The selected domain, otherwise the first verified one, otherwise the first; undefined if there is none. */
  domain: Json | undefined
  isNone: boolean
  onChoose: (id: string) => void
}

/** Loads the organization's domains and keeps the selected sending domain. */
export function useDomains(): Domains {
  const [id, onChoose] = useState('')
  const { data } = useLoad((signal) => get<Paged>('/v1/domains', { limit: 100 }, signal), [])
  const all = data?.data ?? []
  const domain = all.find((each) => each.id === id) ?? all.find(({ status }) => status === 'verified') ?? all[0]
  return { all, domain, isNone: data !== undefined && all.length === 0, onChoose }
}

/** Select for the sending domain; nothing for fewer than two domains. */
export function DomainChoice({ all, domain, onChoose }: Domains) {
  if (all.length < 2) return null
  const options = all.map(({ id, name }) => [id, name] as const)
  return <Choice name="Sending domain" value={domain.id} options={options} onChange={onChoose} />
}
