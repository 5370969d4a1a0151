import { alarmRule, runbookRule } from './tidy/alarms.ts'
import { commentRule } from './tidy/comments.ts'
import { commitRule } from './tidy/commits.ts'
import { consoleRequestRule } from './tidy/console.ts'
import {
  anchorRule,
  decisionRule,
  docPathRule,
  guideRule,
  metricRule,
  packagedLinkRule,
  settingRule,
} from './tidy/documents.ts'
import { dueDateRule } from './tidy/due-dates.ts'
import { doorRule, exportRule } from './tidy/exports.ts'
import { familySuiteRule, familyWordRule, stablecoinRule } from './tidy/families.ts'
import { cycleRule, fenceRule, importRule } from './tidy/imports.ts'
import { absentLabRule } from './tidy/lab.ts'
import { movedDataRule } from './tidy/moves-data.ts'
import { licenceRule, lockFileRule } from './tidy/packages.ts'
import { failpointRule, mutantRule, promiseRule } from './tidy/promises.ts'
import { queueRule } from './tidy/queues.ts'
import { referenceRule } from './tidy/reference.ts'
import { releasedRule } from './tidy/released.ts'
import { type Rule, readRepository } from './tidy/repository.ts'
import { argumentRule, errorRule, routeRule } from './tidy/routes.ts'
import { stateRule } from './tidy/state.ts'
import {
  columnNameRule,
  lockedChoiceRule,
  migrationNumberRule,
  tableOwnerRule,
  tenantKeyRule,
} from './tidy/tables.ts'
import { drawnFileRule, drawRule, testRule } from './tidy/tests.ts'
import { triggeredTopicsRule } from './tidy/triggers.ts'
import { leftoverRule, nameRule, sizeRule, spreadRule, typeNameRule, valueNameRule } from './tidy/words.ts'

/** The house rules, checked on the whole repository. Part of `npm run check`. */
const rules: Rule[] = [
  importRule,
  consoleRequestRule,
  cycleRule,
  fenceRule,
  absentLabRule,
  triggeredTopicsRule,
  dueDateRule,
  exportRule,
  doorRule,
  familyWordRule,
  familySuiteRule,
  stablecoinRule,
  tableOwnerRule,
  columnNameRule,
  migrationNumberRule,
  movedDataRule,
  tenantKeyRule,
  lockedChoiceRule,
  queueRule,
  sizeRule,
  nameRule,
  typeNameRule,
  valueNameRule,
  spreadRule,
  stateRule,
  leftoverRule,
  lockFileRule,
  licenceRule,
  releasedRule,
  commentRule,
  docPathRule,
  packagedLinkRule,
  anchorRule,
  settingRule,
  alarmRule,
  runbookRule,
  decisionRule,
  guideRule,
  metricRule,
  routeRule,
  argumentRule,
  errorRule,
  referenceRule,
  promiseRule,
  failpointRule,
  mutantRule,
  testRule,
  drawRule,
  drawnFileRule,
  commitRule,
]

const repository = readRepository()
const broken = rules.flatMap((rule) => {
  const problems = [...new Set(rule.check(repository))]
  return problems.length > 0
    ? [`${rule.name} (${rule.why})\n${problems.map((problem) => `  ${problem}`).join('\n')}`]
    : []
})
if (broken.length > 0) process.stderr.write(`${broken.join('\n\n')}\n`)
process.exit(broken.length > 0 ? 1 : 0)
