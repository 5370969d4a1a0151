import { edit, type Mutant, proof } from './mutant.ts'

const eventLogs = (title: string) =>
  proof('src/engines/indexer/events/record-logs.test.ts', `property 20: ${title}`)
const contracts = 'src/api/contracts'

/** Contracts and their events: bugs here keep or leak a log, or deploy twice. */
export const contractMutants: readonly Mutant[] = [
  {
    name: 'orphaned-log-stays',
    about: 'the event logs of an orphaned block stay',
    edits: [
      edit(
        'src/engines/indexer/reorg.ts',
        'await removeBlockLogs(tx, ctx.clock.nowMs(), blockchain, head.hash)',
        'void removeBlockLogs',
      ),
    ],
    test: eventLogs('removes the logs of a block'),
  },
  {
    name: 'logs-of-all-entities',
    about: 'an entity lists the event logs of all others',
    edits: [
      edit(
        'src/engines/indexer/events/store/logs.ts',
        'scope: sql`l.entity_id =',
        'scope: sql`true or l.entity_id =',
      ),
    ],
    test: eventLogs('a block that is applied again'),
  },
  {
    name: 'deployed-again',
    about: 'a repeated request deploys a second contract',
    edits: [
      edit(
        `${contracts}/routes.ts`,
        "idempotent: { conflict: 'contractKeyReused', resourceIdOf: ({ transactionId }: Deployed) => transactionId, reload: reloadContract },",
        '',
      ),
    ],
    test: proof(`${contracts}/deploy-contract.test.ts`, 'property 7: is made once'),
  },
  {
    name: 'restored-again',
    about: 'each repetition of a restored deployment records another contract',
    edits: [
      edit(`${contracts}/deploy-contract.ts`, 'if (known) return {', 'if (known && !known) return {'),
      edit(
        'migrations/0007_contracts.sql',
        'create unique index contracts_deployed_once',
        'create index contracts_deployed_once',
      ),
    ],
    test: proof(`${contracts}/restored-deployment.test.ts`, 'property 30'),
  },
]
