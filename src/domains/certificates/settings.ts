import { createHash } from 'node:crypto'
import type { Config } from '../../config/load.ts'
import { ownNames } from './names.ts'

/** The authority and the operator's names. A name that cannot be certified is logged. */
export interface AuthoritySettings {
  names: readonly string[]
  directoryUrl: string
  /** The port the authority uses. */
  port: number
  /** Changes with the settings; attempts then start over. The same for all nodes of an installation. */
  fingerprint: string
}

export function authoritySettings({
  tls,
  http,
  hostname,
  database,
}: Pick<Config, 'tls' | 'http' | 'hostname' | 'database'>): AuthoritySettings {
  const names = ownNames({ hostname, publicUrl: http.publicUrl, names: tls.names })
  const { acmeDirectory: directoryUrl, acmeHttpPort: port } = tls
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(database.url === '' ? [directoryUrl, port, names] : [directoryUrl, port]))
    .digest('base64url')
  return { names, directoryUrl, port, fingerprint }
}
