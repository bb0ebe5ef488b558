import type { Registry } from './registry.ts'

export interface ShownCertificate {
  listener: string
  terms: { endsAt: number }
}

export function gaugeCertificates(registry: Registry, shown: () => readonly ShownCertificate[]): void {
  registry.gauges(
    'postrider_tls_certificate_expiry_timestamp_seconds',
    'Expiry time of the certificate of each listener.',
    ['listener'],
    () => shown().map(({ listener, terms }) => ({ values: [listener], value: terms.endsAt / 1000 })),
  )
}
