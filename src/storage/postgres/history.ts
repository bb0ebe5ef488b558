import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { isRecord } from '../../os/records.ts'
import type { Connection } from './connection.ts'
import { faultOf, type Instance, readInstance, setInstanceState } from './instance.ts'

/** Numbers of the last groups of the lanes that have not ended, as `lane:number`. */
export const GROUPS = `(select string_agg(id || ':' || group_no, ' ') from lanes where ended_at is null)`
/** Lanes that ended are removed after a while; IDs are never given again. */
const KNOWN = `select id, group_no::float8 as "groupNo" from lanes where id = any(string_to_array($1, ' ')::int[])`
const HIGHEST = `select last_value::float8 as highest from lanes_id_seq`
/** How often what is known is written to the data directory at most. */
const SAVE_MS = 1_000

/** What a node knows of the commits of all nodes, in its data directory. A database that has fewer of them went back: it
 *  was restored, or a standby took over that had not received them. */
export interface History {
  /** The groups that a beat returned → false if the database went back. */
  learn(groups: string | null, nowMs: number): boolean
  /** Compares a database that was connected to → why it must not be served; null = it has everything. Notes in the
   *  database that it went back, for nodes that know less. */
  check(connection: Connection): Promise<string | null>
}

/** File in the data directory and the instance → History. What the file has of an earlier adoption does not count.
 *  `isReadOnly`: another process writes it. */
export function createHistory(
  file: string,
  { adoptions }: Pick<Instance, 'adoptions'>,
  { isReadOnly }: { isReadOnly: boolean },
): History {
  const stored = readStored(file)
  const groups = stored?.adoptions === adoptions ? stored.groups : new Map<number, number>()
  const adoptionsKnown = Math.max(adoptions, stored?.adoptions ?? 0)
  let savedAt = Number.NEGATIVE_INFINITY
  const isBehind = (lane: number, group: number) => group < (groups.get(lane) ?? 0)

  return {
    learn: (text, nowMs) => {
      const found = parseGroups(text)
      if (found.some(([lane, group]) => isBehind(lane, group))) return false
      groups.clear()
      for (const [lane, group] of found) groups.set(lane, group)
      if (!isReadOnly && nowMs - savedAt >= SAVE_MS) {
        savedAt = nowMs
        save(file, { adoptions: adoptionsKnown, groups })
      }
      return true
    },
    check: async (connection) => {
      const instance = await readInstance(connection)
      const fault = instance === null ? null : faultOf(instance)
      if (fault !== null) return fault
      // As of before the query: a beat may learn more meanwhile.
      const known = new Map(groups)
      const lanes = await connection.query<{ id: number; groupNo: number }>(KNOWN, [[...known.keys()].join(' ')])
      const [row] = await connection.query<{ highest: number }>(HIGHEST)
      const isUnknown = [...known.keys()].some((lane) => lane > (row?.highest ?? 0))
      const wentBack =
        isUnknown ||
        adoptionsKnown > (instance?.adoptions ?? 0) ||
        lanes.some(({ id, groupNo }) => groupNo < (known.get(id) ?? 0))
      if (!wentBack) return null
      await setInstanceState(connection, 'went_back')
      return faultOf({ state: 'went_back', isHere: true })
    },
  }
}

interface Stored {
  adoptions: number
  groups: Map<number, number>
}

/** Null if the file is missing or unreadable. */
function readStored(file: string): Stored | null {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isRecord(content) || typeof content.adoptions !== 'number') return null
    return { adoptions: content.adoptions, groups: new Map(parseGroups(String(content.groups))) }
  } catch {
    return null
  }
}

/** Complete or not at all. Not synced: it is for the next process, and a disk that fails stops no mail. */
function save(file: string, { adoptions, groups }: Stored): void {
  const text = [...groups].map(([lane, group]) => `${lane}:${group}`).join(' ')
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify({ adoptions, groups: text })}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch {}
}

function parseGroups(text: string | null): [lane: number, group: number][] {
  return (text ?? '')
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => {
      const [lane, group] = part.split(':')
      return [Number(lane), Number(group)]
    })
}
