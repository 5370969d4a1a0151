import type { Repository, Rule } from './repository.ts'

type Manifest = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>
type LockFile = { packages: Readonly<Record<string, { resolved?: string }>> }

const jsonOf = (repository: Repository, path: string): unknown =>
  JSON.parse(repository.files.find((file) => file.path === path)?.text ?? '{}')

export const lockFileRule: Rule = {
  name: 'the lock file installs on every machine',
  why: 'An installation is refused where the lock lacks a package of another platform, and fails where its registry is not reached.',
  check: (repository) => {
    const { dependencies, devDependencies, optionalDependencies } = jsonOf(
      repository,
      'package.json',
    ) as Manifest
    const { packages } = jsonOf(repository, 'package-lock.json') as LockFile
    const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
    return [
      ...names
        .filter((name) => packages[`node_modules/${name}`] === undefined)
        .map((name) => `package-lock.json lacks ${name}: pin a version that has a package for each platform`),
      ...Object.entries(packages)
        .filter(([, { resolved }]) => resolved?.includes('://'))
        .map(([name]) => `package-lock.json names the registry of ${name}`),
    ]
  },
}
