import { alarmNames } from '#runtime/log/alarms'
import { differences, matchesIn } from './documents.ts'
import type { Repository, Rule } from './repository.ts'

const alarmFile = 'src/runtime/log/alarms.ts'
const runbookFile = 'docs/runbooks.md'
/** Links all runbooks of alarms. */
const indexFile = /^docs\/operate\.md$/
/** The heading of the sections that are about alerts of Prometheus alone. */
const alertsHeading = '## Alerts that are no alarms\n'
const parts = ['**What it means.** ', '**What to look at.** ', '**What to do.** ']

export const alarmRule: Rule = {
  name: 'alarms are listed, raised, counted and tested',
  why: 'A count tells an operator how often, and a test that the alarm is raised by its cause.',
  check: (repository) => {
    const code = repository
      .matching(/^src\/.*\.ts$/)
      .filter(({ path }) => path !== alarmFile && !path.endsWith('.test.ts'))
    const unused = alarmNames.filter((name) => !code.some(({ text }) => text.includes(`'${name}'`)))
    const tests = repository.matching(/^(src|testing)\/.*\.test\.ts$/)
    const untested = alarmNames.filter((name) => {
      const named = new RegExp(`['"]${name}['"]`)
      return !tests.some(({ text }) => named.test(text))
    })
    // An alarm logged without `raiseAlarm` is not counted.
    const bypassing = code.filter(({ text }) => /\blog\.\w+\(\s*\{[^}]*\balarm\b|\balarm: '/.test(text))
    return [
      ...unused.map((name) => `${name} is listed in ${alarmFile}, and nothing raises it`),
      ...untested.map(
        (name) => `${name} has no test that raises it by its cause: see testing/platform/count-alarm.ts`,
      ),
      ...bypassing.map(({ path }) => `${path} names an alarm past raiseAlarm of ${alarmFile}`),
    ]
  },
}

export const runbookRule: Rule = {
  name: 'alarms and alerts have runbooks',
  why: 'An operator who is woken by a name has to find out what it means, what to look at and what to do.',
  check: (repository) => {
    const text = repository.files.find(({ path }) => path === runbookFile)?.text ?? ''
    const [ofAlarms = '', ofAlerts = ''] = text.split(alertsHeading)
    const alarms = new Set<string>(alarmNames)
    const alerts = sectionsIn(ofAlerts).map(({ name }) => name)
    const sections = [...sectionsIn(ofAlarms), ...sectionsIn(ofAlerts)]
    const linked = runbooksIn(repository)
    const known = sections.map(({ name }) => name)
    return [
      ...differences(alarms, new Set(sectionsIn(ofAlarms).map(({ name }) => name))),
      ...sections
        .filter(({ body }) => !hasParts(body))
        .map(({ name }) => `${runbookFile}: ${name} has not the parts ${parts.join(', ')}in this order`),
      ...differences(alarms, matchesIn(repository, indexFile, /(?<=\[`)[a-z-]+(?=`\]\(runbooks\.md#)/g)),
      ...linked
        .filter(({ name }) => !known.includes(name))
        .map(({ path, name }) => `${path} links ${name}, which ${runbookFile} has not`),
      ...alerts
        .filter((alert) => !linked.some(({ name }) => name === alert))
        .map((alert) => `${runbookFile} has ${alert}, to which no alert links`),
    ]
  },
}

/** The sections about one alarm or alert each. */
const sectionsIn = (text: string) =>
  [...text.matchAll(/^### `([a-z-]+)`\n([\s\S]*?)(?=^##|(?![\s\S]))/gm)].map(([, name, body]) => ({
    name: name!,
    body: body!,
  }))

/** Whether a section consists of its three parts, in their order. */
const hasParts = (body: string) =>
  body.trimStart().startsWith(parts[0]!) &&
  [...body.matchAll(/^(\*\*What [^*]+\*\* )\S/gm)].map(([, part]) => part).join() === parts.join()

/** The sections that the rules for Prometheus and the dashboard link to. */
const runbooksIn = (repository: Repository) =>
  repository
    .matching(/^deploy\/(prometheus|grafana)\//)
    .flatMap(({ path, text }) =>
      [...text.matchAll(/docs\/runbooks(?:\.md)?#([a-z-]+)/g)].map(([, name]) => ({ path, name: name! })),
    )
