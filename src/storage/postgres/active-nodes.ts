import type { NodeShare, Placement } from '../store.ts'
import { valueArray } from './arrays.ts'
import type { Queries } from './transactions.ts'

const LIVE = 'select id, name, placement from nodes where id = any($1::int[]) order by id'

const NOBODY: NodeShare = { nodes: 0, place: 0 }

/** How nodes agree on where mail is sent from: all read the text of the newest node. */
export interface PlacementOptions {
  /** Of this node; null: it knows of nothing that only some nodes can send. */
  published: string | null
  /** Null if the text is unknown here. */
  read(published: string): Placement | null
  /** The nodes that have addresses and do not live: others send their mail. Called when they change. */
  onAbsent(names: readonly string[]): void
}

/** Nodes as a beat shows them, by ID. */
export interface SeenNodes {
  /** Those that run and handle mail. */
  live: readonly number[]
  /** Those that claim nothing more. */
  draining: ReadonlySet<number>
  /** Those of them with nothing in progress any more. */
  handedOver: ReadonlySet<number>
  /** This node has ended some, perhaps that it never saw alive. */
  hasEndedSome: boolean
}

interface LiveNode {
  id: number
  name: string
}

/** The nodes that share the work with this one, and which of them have the addresses that mail is sent from. */
export class ActiveNodes {
  readonly #queries: Queries
  readonly #self: number
  readonly #options: PlacementOptions | undefined
  #seen = ''
  #live: readonly number[] = []
  #nodes: readonly LiveNode[] = []
  #share = NOBODY
  #placement: Placement | null = null
  #placementText: string | null = null
  /** Names of the nodes that send mail. */
  #names = new Set<string>()
  #absent = ''

  constructor(queries: Queries, self: number, options: PlacementOptions | undefined) {
    this.#queries = queries
    this.#self = self
    this.#options = options
  }

  /** Compares with what it knows → whether a node has ended since. */
  async learn({ live, draining, handedOver, hasEndedSome }: SeenNodes): Promise<boolean> {
    const seen = [live, [...draining], [...handedOver]].join('|')
    if (seen === this.#seen) return hasEndedSome
    const isSame = this.#live.length === live.length && this.#live.every((id) => live.includes(id))
    if (!isSame) await this.#read(live)
    const hasEnded = hasEndedSome || this.#live.some((id) => !live.includes(id))
    this.#names = new Set(this.#nodes.filter(({ id }) => !draining.has(id)).map(({ name }) => name))
    const sharing = live.filter((id) => !handedOver.has(id)).toSorted((one, other) => one - other)
    const place = sharing.indexOf(this.#self)
    this.#share = place < 0 ? NOBODY : { nodes: sharing.length, place }
    this.#live = live
    this.#seen = seen
    return hasEnded
  }

  share(): NodeShare {
    return this.#share
  }

  hasOthers(): boolean {
    return this.#live.some((id) => id !== this.#self)
  }

  /** As Nodes.elsewhere. */
  elsewhere(queue: string): string | null {
    const group = this.#placement?.groupOf(queue) ?? null
    if (group === null) return null
    const names = this.#placement?.groups[group]?.filter((name) => this.#names.has(name)) ?? []
    const own = this.#nodes.find(({ id }) => id === this.#self)?.name ?? ''
    return names.length === 0 || names.includes(own) ? null : `addresses of ${names.join(' ')}`
  }

  /** The groups of Placement.groupOf have changed. */
  moved(): void {
    this.#share = { ...this.#share }
  }

  async #read(live: readonly number[]): Promise<void> {
    const rows = await this.#queries.query<LiveNode & { placement: string | null }>(LIVE, [valueArray(live)])
    this.#nodes = rows
    const text = rows.at(-1)?.placement ?? null // all use that of the newest node
    if (text !== this.#placementText) this.#placement = text === null ? null : (this.#options?.read(text) ?? null)
    this.#placementText = text
    const needed = new Set(this.#placement?.groups.flat())
    const missing = [...needed].filter((name) => !rows.some((node) => node.name === name)).sort()
    if (missing.join('\n') !== this.#absent) this.#options?.onAbsent(missing)
    this.#absent = missing.join('\n')
  }
}
