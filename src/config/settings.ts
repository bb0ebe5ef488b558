import { toml } from './example.ts'
import type { Given, Origin } from './given.ts'
import { fromStep } from './paths.ts'
import type { Key } from './schema.ts'

/** The effective value of a key and its source. */
export interface Setting {
  /** Dotted path. */
  readonly key: string
  /** As written in the file; secrets are hidden. */
  readonly value: string
  readonly isGiven: boolean
  /** `config.toml:12`, `environment POSTRIDER_X`, `credentials x` or `default`. */
  readonly source: string
}

/** The settings of every key, in the order of the schema. */
export function settingsOf(keys: ReadonlyMap<string, Key>, given: ReadonlyMap<string, Given>): Setting[] {
  return [...keys].map(([path, key]) => {
    const found = given.get(path)
    const raw = found ? found.raw : key.fallback
    const isHidden = key.isSecret && raw !== ''
    return {
      key: path.split('.').map(fromStep).join('.'),
      value: isHidden ? SECRET : toml(withoutSecrets(raw, key.kind.secretRows)),
      isGiven: found !== undefined,
      source: found ? placeOf(found.origin) : 'default',
    }
  })
}

const SECRET = '(secret)'

/** The rows of a list of tables, with their secrets masked. */
function withoutSecrets(raw: unknown, secretRows: readonly string[] = []): unknown {
  if (secretRows.length === 0) return raw
  if (!Array.isArray(raw)) return SECRET
  const masked = (row: object) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, secretRows.includes(name) ? SECRET : value]))
  return raw.map((row: unknown) => (typeof row === 'object' && row !== null ? masked(row) : SECRET))
}

const placeOf = ({ file, line, key }: Origin) => (line === null ? `${file} ${key}` : `${file}:${line}`)
