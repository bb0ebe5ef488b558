import { USER } from './files.ts'

const SECOND = 1_000_000_000 // nanoseconds

interface About {
  architecture: string
  version: string
  revision: string
  /** Seconds since 1970. */
  time: number
  /** Of each layer before compression. */
  diffIds: string[]
}

/** The image's configuration: how it runs, and its labels. Health checks are Docker's extension. Sources: OCI Image Format
 *  1.1, config.md; Docker Image Specification 1.3. */
export function imageConfig({ architecture, version, revision, time, diffIds }: About) {
  const created = new Date(time * 1000).toISOString()
  return {
    created,
    architecture,
    os: 'linux',
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: Object.fromEntries([25, 465, 587, 8025].map((port) => [`${port}/tcp`, {}])),
      // Without a config file: the environment sets every key.
      Env: ['PATH=/usr/bin', 'POSTRIDER_CONFIG='],
      Entrypoint: ['postrider'],
      Cmd: ['serve'],
      Volumes: { '/var/lib/postrider': {} },
      WorkingDir: '/',
      StopSignal: 'SIGTERM',
      Healthcheck: {
        Test: ['CMD', 'postrider', 'healthcheck'],
        Interval: 30 * SECOND,
        Timeout: 6 * SECOND,
        StartPeriod: 60 * SECOND,
      },
      Labels: {
        'org.opencontainers.image.title': 'Postrider',
        'org.opencontainers.image.description': 'Self-hosted transactional email',
        'org.opencontainers.image.licenses': 'MIT',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': revision,
      },
    },
    rootfs: { type: 'layers', diff_ids: diffIds },
    history: [
      { created, created_by: 'files of Debian packages', comment: 'scripts/release-files/image.ts' },
      { created, created_by: 'the program', comment: 'scripts/release-files/image.ts' },
    ],
  }
}
