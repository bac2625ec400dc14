/** One environment in the list, with what can be done to it. */

import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useMayManage } from "../api/session.ts";
import type { Environment } from "../api/types.ts";
import { EnvironmentDot } from "../shell/environment-switcher.tsx";
import { Icon } from "../ui/icon.tsx";
import { bytes } from "../ui/numbers.ts";
import { Time } from "../ui/time.tsx";
import { EnvironmentMenu } from "./environment-menu.tsx";
import { EnvironmentSettings } from "./environment-settings.tsx";
import { EnvironmentUsage } from "./environment-usage.tsx";

interface EnvironmentRowProps {
  environment: Environment;
  /** Whether there is more than one database. */
  isPlaced: boolean;
}

export function EnvironmentRow({ environment, isPlaced }: EnvironmentRowProps) {
  const { name, kind, createdAt, archivedAt, bodyLimitBytes, retention, database } = environment;
  const { env } = useParams({ from: "/env/$env" });
  return (
    <tr>
      <td>
        <Link to="/env/$env" params={{ env: name }} className="row strong">
          <EnvironmentDot name={name} /> <span className="cut">{name}</span>
          {name === env && <span className="badge plain">current</span>}
        </Link>
      </td>
      <td data-label="Kind" className="second">
        {kind}
      </td>
      {isPlaced && (
        <td data-label="Database" className="second long">
          {database}
        </td>
      )}
      <td data-label="Body limit" className="second num">
        {bodyLimitBytes === null ? "default" : bytes(bodyLimitBytes)}
      </td>
      <td data-label="Events kept" className="second num">
        {retention.events ?? "default"}
      </td>
      <td data-label="Created" className="second">
        <Time at={createdAt} />
      </td>
      <td data-label="State">
        {archivedAt ? (
          <span className="badge">
            <Icon name="slash" size={13} /> Archived
          </span>
        ) : (
          <span className="badge ok">
            <Icon name="checkCircle" size={13} /> Active
          </span>
        )}
      </td>
      <td className="right">
        <RowActions environment={environment} isPlaced={isPlaced} />
      </td>
    </tr>
  );
}

function RowActions({ environment, isPlaced }: EnvironmentRowProps) {
  const { name } = environment;
  const [isEditing, setEditing] = useState(false);
  const [isMeasuring, setMeasuring] = useState(false);
  const mayManage = useMayManage();
  return (
    <div className="row row-actions">
      <button type="button" className="button small" onClick={() => setMeasuring(true)}>
        Usage<span className="visually-hidden"> of {name}</span>
      </button>
      {mayManage && (
        <>
          <button type="button" className="button small" onClick={() => setEditing(true)}>
            Settings<span className="visually-hidden"> of {name}</span>
          </button>
          <EnvironmentMenu environment={environment} isPlaced={isPlaced} />
        </>
      )}
      {isMeasuring && <EnvironmentUsage name={name} mayChange={mayManage} onClose={() => setMeasuring(false)} />}
      {isEditing && <EnvironmentSettings environment={environment} onClose={() => setEditing(false)} />}
    </div>
  );
}
