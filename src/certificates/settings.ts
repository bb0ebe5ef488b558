import { createHash } from 'node:crypto'
import type { Config } from '../config/load.ts'
import { ownNames } from './names.ts'

/** Whom to ask for which names, of which the operator is told when they cannot be had. */
export interface AuthoritySettings {
  names: readonly string[]
  directoryUrl: string
  /** Where the authority asks. */
  port: number
  /** Others have another one: attempts begin anew. */
  fingerprint: string
}

export function authoritySettings({
  tls,
  http,
  hostname,
}: Pick<Config, 'tls' | 'http' | 'hostname'>): AuthoritySettings {
  const names = ownNames({ hostname, publicUrl: http.publicUrl, names: tls.names })
  const { acmeDirectory: directoryUrl, acmeHttpPort: port } = tls
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([directoryUrl, port, names]))
    .digest('base64url')
  return { names, directoryUrl, port, fingerprint }
}
