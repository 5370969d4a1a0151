import Type from 'typebox'
import {
  blockchainField,
  createDateField,
  dateField,
  filterText,
  idField,
  updateDateField,
} from '#api/fields'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const chainOfContract = described(blockchainField, 'The blockchain of the contract.')
const blockField = (description: string) => Type.Integer({ minimum: 0, maximum: 2 ** 48, description })
const text = (description: string) => Type.String({ description })
const eventSignatureText =
  'The event, as "Transfer(address,address,uint256)" or as it is declared, "Transfer(address indexed from, address indexed to, uint256 value)".'

export const eventMonitorParams = idParams('EventMonitorId', 'the event monitor')

const contractFilters = {
  contractAddress: Type.Optional(filterText('The address of the contract, in any case.')),
  blockchain: Type.Optional(chainOfContract),
}
export const eventLogsQuery = Type.Object(contractFilters)
export const eventMonitorsQuery = Type.Object({
  ...contractFilters,
  eventSignature: Type.Optional(
    filterText(`${eventSignatureText} Either spelling finds both; the hash of the signature does as well.`),
  ),
})

export const newEventMonitorBody = Type.Object(
  {
    blockchain: chainOfContract,
    contractAddress: logged(
      'address',
      Type.String({
        maxLength: 200,
        description: 'The address of a contract that was deployed or imported.',
      }),
    ),
    eventSignature: Type.String({ maxLength: 2_000, description: eventSignatureText }),
    fromBlock: Type.Optional(
      blockField(
        'An addition of this server: the first block whose logs are read. Default: those after the request.',
      ),
    ),
  },
  { title: 'CreateEventMonitorRequest', description: 'The event to monitor.' },
)
export const eventMonitorUpdate = Type.Object(
  { isEnabled: Type.Boolean({ description: 'Whether logs are recorded.' }) },
  { title: 'UpdateEventMonitorRequest', description: 'The new setting.' },
)

const historyShape = Type.Object(
  {
    fromBlock: blockField('The first block that was asked for.'),
    nextBlock: Type.Optional(blockField('The next block to read; absent when the history is complete.')),
    toBlock: Type.Optional(
      blockField('The last block to read; absent until that is chosen, and when the history is complete.'),
    ),
    isComplete: Type.Boolean({ description: 'Whether all blocks of the history were read.' }),
  },
  { description: 'An addition of this server: the progress of the history, when fromBlock was given.' },
)
const eventMonitorShape = Type.Object(
  {
    id: idField('The id of the monitor.'),
    blockchain: logged('word', text('The blockchain.')),
    contractAddress: logged('address', text('The address of the contract.')),
    eventSignature: text('The event, in the spelling of the request that created the monitor.'),
    eventSignatureHash: text(
      'The Keccak-256 hash of the canonical signature, which is the first topic of its logs.',
    ),
    isEnabled: Type.Boolean({ description: 'Whether logs are recorded.' }),
    lagBlocks: Type.Optional(
      Type.Integer({
        description:
          'An addition of this server: the number of blocks that the monitor has not read yet. Absent while it is disabled and while no node answers.',
      }),
    ),
    lagSeconds: Type.Optional(
      Type.Integer({
        description: 'The same as time between the newest block and the last one read, where that is known.',
      }),
    ),
    history: Type.Optional(historyShape),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'EventMonitor', description: 'A monitored event of a contract.' },
)
export const eventMonitorAnswer = Type.Object(
  { eventMonitor: eventMonitorShape },
  { description: 'The event monitor.' },
)
export const eventMonitorsAnswer = Type.Object(
  { eventMonitors: Type.Array(eventMonitorShape, { description: 'The event monitors, newest first.' }) },
  { description: 'One page of event monitors.' },
)

const valueShape = Type.Object(
  {
    name: text('The name of the parameter; empty without one.'),
    type: text('Its type.'),
    indexed: Type.Boolean({ description: 'Whether a topic holds it.' }),
    value: Type.Unknown({
      description:
        'Integers as text, lists for arrays and tuples; of indexed values of dynamic size, the hash.',
    }),
  },
  { title: 'EventLogValue', description: 'A decoded parameter.' },
)
const eventLogShape = Type.Object(
  {
    id: idField('The id of the log.'),
    blockHash: logged('hash', text('The hash of its block.')),
    blockHeight: Type.Integer({ description: 'The number of its block.' }),
    blockchain: logged('word', text('The blockchain.')),
    contractAddress: logged('address', text('The address of the contract.')),
    data: text('The data of the log. Empty where it exceeds 64 KiB; dataBytes then tells its size.'),
    dataBytes: Type.Optional(
      Type.Integer({ description: 'An addition of this server: the size of data that is not kept.' }),
    ),
    eventName: text('An addition of this server: the name of the event.'),
    eventSignature: text('The event, as its monitor has it.'),
    eventSignatureHash: text('The hash of its canonical signature.'),
    values: Type.Optional(
      Type.Array(valueShape, {
        description:
          'An addition of this server: the decoded parameters in their order. Absent where the declaration of the event is not known, and where the log does not fit it.',
      }),
    ),
    logIndex: text('The position of the log in its block, as decimal text.'),
    topics: Type.Array(Type.String(), { description: 'The topics; the first one is the hash of the event.' }),
    txHash: logged('hash', text('The hash of the transaction.')),
    userOpHash: logged('hash', text('Always empty: this version has no user operations.')),
    firstConfirmDate: dateField('The time of the block.'),
    createDate: createDateField,
  },
  { title: 'EventLog', description: 'A log of a monitored event.' },
)
export const eventLogsAnswer = Type.Object(
  { eventLogs: Type.Array(eventLogShape, { description: 'The logs, newest first.' }) },
  { description: 'One page of event logs.' },
)
