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
      value: isHidden ? '(secret)' : toml(raw),
      isGiven: found !== undefined,
      source: found ? placeOf(found.origin) : 'default',
    }
  })
}

const placeOf = ({ file, line, key }: Origin) => (line === null ? `${file} ${key}` : `${file}:${line}`)
